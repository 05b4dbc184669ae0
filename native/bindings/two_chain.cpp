#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "duilian/two_chain/predictor.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

[[nodiscard]] WeightView shown(const Floats& weights) { return {{weights.data(), weights.size()}, 1.0F}; }

[[nodiscard]] auto labels(TwoChainLabels found) {
  return std::make_tuple(to_numpy(std::move(found.letter)), to_numpy(std::move(found.tag)));
}

[[nodiscard]] TwoChains one_sentence(const TwoChainPredictor& self, const Sentences& sentences,
                                     std::int64_t sentence, bool letters_only,
                                     TwoChainPredictor::Work& work) {
  if (sentence < 0 || sentence >= sentences.size()) throw std::invalid_argument("there is no such sentence");
  self.check_sentences(sentences);
  return self.chains(sentences, sentence, letters_only, work);
}

void bind_structs(nb::module_& m) {
  nb::enum_<TwoChainMode>(m, "TwoChainMode")
      .value("joint", TwoChainMode::joint)
      .value("segment", TwoChainMode::segment)
      .value("tag", TwoChainMode::tag);
  nb::enum_<Clique>(m, "Clique")
      .value("letter", Clique::letter)
      .value("letters", Clique::letters)
      .value("tag", Clique::tag)
      .value("letter_tag", Clique::letter_tag)
      .value("tags", Clique::tags);

  nb::class_<TwoChainShape>(m, "TwoChainShape")
      .def(
          "__init__",
          [](TwoChainShape* self, std::int32_t letters, std::int32_t tags, const Succession& rules,
             const std::vector<bool>& continues, bool has_edge,
             const std::vector<std::pair<Clique, std::int32_t>>& places) {
            TwoChainOptions options{letters, tags, rules, {continues.begin(), continues.end()}, has_edge, {}};
            for (const auto& [clique, offset] : places) options.places.push_back({clique, offset});
            new (self) TwoChainShape(std::move(options));
          },
          "letters"_a, "tags"_a, "rules"_a, "continues"_a, "has_edge"_a, "places"_a)
      .def_prop_ro("clique_weights", &TwoChainShape::clique_weights)
      .def_prop_ro("slots", &TwoChainShape::slots)
      .def("first_slot", &TwoChainShape::first_slot, "place"_a)
      .def_prop_ro("before", &TwoChainShape::before)
      .def_prop_ro("after", &TwoChainShape::after);

  nb::class_<TwoChainPatterns>(m, "TwoChainPatterns")
      .def(
          "__init__",
          [](TwoChainPatterns* self, const TemplateSet& set, std::vector<PlaceSet> places) {
            new (self) TwoChainPatterns{set, std::move(places)};
          },
          "set"_a, "places"_a);

  nb::class_<TwoChainData>(m, "TwoChainData")
      .def(
          "__init__",
          [](TwoChainData* self, const TwoChainShape& shape, const FeatureRows& features,
             const Input<std::int64_t>& first, const Input<std::int32_t>& letter,
             const Input<std::int32_t>& tag) {
            TwoChainData built{features, to_vector(first), to_vector(letter), to_vector(tag)};
            check(built, shape);
            new (self) TwoChainData(std::move(built));
          },
          "shape"_a, "features"_a, "first"_a, "letter"_a, "tag"_a);

  nb::class_<TwoChainLayout>(m, "TwoChainLayout")
      .def_prop_ro("weights", &TwoChainLayout::weights)
      .def_prop_ro(
          "first", [](const TwoChainLayout& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "slot", [](const TwoChainLayout& self) { return to_numpy(self.slot); }, nb::rv_policy::move);
}

void bind_training(nb::module_& m) {
  m.def(
      "index_two_chain",
      [](const TwoChainShape& shape, const TwoChainPatterns& patterns, const Sentences& sentences,
         std::uint32_t min_count) {
        auto found = without_gil([&] { return index_two_chain(shape, patterns, sentences, min_count); });
        return std::make_tuple(to_numpy(std::move(found.keys)), to_numpy(std::move(found.places)),
                               std::move(found.rows));
      },
      "shape"_a, "patterns"_a, "sentences"_a, "min_count"_a);
  m.def("find_two_chain", &find_two_chain, "shape"_a, "patterns"_a, "sentences"_a, "index"_a,
        nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "lay_out_two_chain",
      [](const TwoChainShape& shape, const TwoChainData& data, const Input<PlaceSet>& places,
         std::int64_t full_from) {
        return without_gil(
            [&] { return lay_out_two_chain(shape, data, {places.data(), places.size()}, full_from); });
      },
      "shape"_a, "data"_a, "places"_a, "full_from"_a);
  m.def(
      "label_two_chain",
      [](const TwoChainLayout& layout, const Floats& weights, const TwoChainData& data, TwoChainMode mode,
         std::size_t threads) {
        return labels(
            without_gil([&] { return label_two_chain(layout, shown(weights), data, mode, threads); }));
      },
      "layout"_a, "weights"_a, "data"_a, "mode"_a, "threads"_a);
  m.def(
      "compile_two_chain",
      [](const TwoChainLayout& layout, const Floats& weights, const Input<std::uint64_t>& keys,
         float min_weight) {
        return compile_two_chain(layout, {weights.data(), weights.size()}, {keys.data(), keys.size()},
                                 min_weight);
      },
      "layout"_a, "weights"_a, "keys"_a, "min_weight"_a);
}

void bind_prediction(nb::module_& m) {
  nb::class_<TwoChainWeights>(m, "TwoChainWeights")
      .def(
          "__init__",
          [](TwoChainWeights* self, const Input<std::uint64_t>& slot, const Input<std::uint16_t>& label,
             const Floats& weight, const Floats& clique) {
            new (self)
                TwoChainWeights{{to_vector(slot), to_vector(label), to_vector(weight)}, to_vector(clique)};
          },
          "slot"_a, "label"_a, "weight"_a, "clique"_a)
      .def_prop_ro(
          "slot", [](const TwoChainWeights& self) { return to_numpy(self.slot); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const TwoChainWeights& self) { return to_numpy(self.label); }, nb::rv_policy::move)
      .def_prop_ro(
          "weight", [](const TwoChainWeights& self) { return to_numpy(self.weight); }, nb::rv_policy::move)
      .def_prop_ro(
          "clique", [](const TwoChainWeights& self) { return to_numpy(self.clique); }, nb::rv_policy::move);

  nb::class_<TwoChainPredictor>(m, "TwoChainPredictor")
      .def(nb::init<TwoChainShape, TwoChainPatterns, TwoChainWeights, Folding>(), "shape"_a, "patterns"_a,
           "weights"_a, "folding"_a)
      .def_prop_ro("weights", &TwoChainPredictor::weights)
      .def(
          "predict",
          [](const TwoChainPredictor& self, const Sentences& sentences, TwoChainMode mode,
             const Input<std::int32_t>& letter, std::size_t threads) {
            return labels(without_gil(
                [&] { return predict(self, sentences, mode, {letter.data(), letter.size()}, threads); }));
          },
          "sentences"_a, "mode"_a, "letter"_a, "threads"_a)
      .def(
          "predict_marginals",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::size_t threads) {
            return to_numpy(without_gil([&] { return predict_marginals(self, sentences, threads); }),
                            self.shape().letters() * self.shape().tags());
          },
          "sentences"_a, "threads"_a)
      .def(
          "k_best",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence, std::size_t k,
             bool letters_only) {
            TwoChainPredictor::Work work;
            const TwoChains x = one_sentence(self, sentences, sentence, letters_only, work);
            std::vector<std::tuple<double, Array<std::int32_t>, Array<std::int32_t>>> out;
            for (auto& path : letters_only ? k_best_letters(x, k) : k_best_paths(x, k)) {
              out.emplace_back(path.score, to_numpy(std::move(path.letter)), to_numpy(std::move(path.tag)));
            }
            return out;
          },
          "sentences"_a, "sentence"_a, "k"_a, "letters_only"_a)
      .def(
          "log_partition",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence) {
            TwoChainPredictor::Work work;
            return marginals(one_sentence(self, sentences, sentence, false, work)).log_partition;
          },
          "sentences"_a, "sentence"_a)
      .def(
          "path_score",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence,
             const Input<std::int32_t>& letter, const Input<std::int32_t>& tag) {
            TwoChainPredictor::Work work;
            const TwoChains x = one_sentence(self, sentences, sentence, tag.size() == 0, work);
            self.shape().check_letters({letter.data(), letter.size()});
            const auto is_tag = [&](std::int32_t t) {
              return t >= 0 && t < static_cast<std::int32_t>(self.shape().tags());
            };
            if (letter.size() != x.length || (tag.size() != 0 && tag.size() != x.length) ||
                !std::all_of(tag.data(), tag.data() + tag.size(), is_tag))
              throw std::invalid_argument("the path does not fit the sentence");
            return path_score(x, {letter.data(), letter.size()}, {tag.data(), tag.size()});
          },
          "sentences"_a, "sentence"_a, "letter"_a, "tag"_a);
}

}  // namespace

void bind_two_chain(nb::module_& m) {
  bind_structs(m);
  bind_training(m);
  bind_prediction(m);
}

}  // namespace duilian::bindings
