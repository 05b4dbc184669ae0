// What the binding files share: one function per part, arrays in and out, work without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "duilian/score/lines.hpp"

namespace duilian::bindings {

namespace nb = nanobind;

void bind_text(nb::module_& m);
void bind_json(nb::module_& m);
void bind_storage(nb::module_& m);
void bind_lexicon(nb::module_& m);
void bind_features(nb::module_& m);
void bind_lattice(nb::module_& m);
void bind_chain(nb::module_& m);
void bind_tagger(nb::module_& m);
void bind_coupled(nb::module_& m);
void bind_coupled_predictor(nb::module_& m);
void bind_charts(nb::module_& m);
void bind_parser(nb::module_& m);
void bind_joint_parser(nb::module_& m);
void bind_two_chain(nb::module_& m);
void bind_two_chain_predictor(nb::module_& m);
void bind_dynamic(nb::module_& m);
void bind_multitask(nb::module_& m);
void bind_neural(nb::module_& m);
void bind_learn(nb::module_& m);
void bind_tree_learning(nb::module_& m);

template <class T, std::size_t N = 1>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// Weights that a learner changes in place.
using Weights = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The elements of an array of any number of dimensions, in C order.
template <class T, class... Config>
[[nodiscard]] std::span<T> view(const nb::ndarray<T, Config...>& array) {
  return {array.data(), array.size()};
}
[[nodiscard]] inline std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

template <class T>
[[nodiscard]] std::vector<T> to_vector(const Input<T>& array) {
  return {array.data(), array.data() + array.size()};
}

/// Returns the result of `work`, computed while other Python threads run.
template <class Work>
[[nodiscard]] auto without_gil(const Work& work) {
  const nb::gil_scoped_release release;
  return work();
}

/// A NumPy array that owns the memory of the vector.
template <class T>
[[nodiscard]] Array<T> to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array<T>(kept->data(), {kept->size()}, owner);
}

/// Likewise as a matrix with this many columns.
template <class T>
[[nodiscard]] Array<T, 2> to_numpy(std::vector<T> values, std::size_t columns) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array<T, 2>(kept->data(), {columns == 0 ? 0 : kept->size() / columns, columns}, owner);
}

[[nodiscard]] inline nb::bytes to_bytes(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

/// The characters of Python strings. Throws a TypeError if one has a lone surrogate, as UTF-8 would.
[[nodiscard]] std::vector<std::u32string> characters_of(const nb::list& texts);

/// tag_lines of any model that labels lines.
template <class Model>
[[nodiscard]] nb::bytes tag_bytes(const Model& model, const nb::bytes& text, const LineOptions& options,
                                  std::size_t threads) {
  const std::string_view shown = view(text);
  return to_bytes(
      without_gil([&] { return tag_lines(*label_model(model, options.starts), shown, options, threads); }));
}

/// predict of any model: the labels, and the number of sentences without a legal path under the constraints.
template <class Model>
[[nodiscard]] auto predict_labels(const Model& model, const Sentences& sentences,
                                  const Constraints& constraints, std::size_t threads) {
  std::int64_t impossible = 0;
  auto labels = without_gil([&] { return predict(model, sentences, constraints, threads, impossible); });
  return std::make_tuple(to_numpy(std::move(labels)), impossible);
}

}  // namespace duilian::bindings
