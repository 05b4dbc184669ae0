// Two coupled chains compiled for tagging, and their answers.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/two_chain/predictor.hpp"

namespace duilian::bindings {

using namespace nb::literals;

namespace {

void bind_weights(nb::module_& m) {
  nb::class_<TwoChainWeights>(m, "TwoChainWeights")
      .def(
          "__init__",
          [](TwoChainWeights* self, const Input<std::uint64_t>& slot, const Input<std::uint16_t>& label,
             const Input<float>& weight, const Input<float>& clique) {
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
  m.def(
      "compile_two_chain",
      [](const TwoChainLayout& layout, const Input<float>& weights, const Input<std::uint64_t>& keys,
         float min_weight) { return compile_two_chain(layout, view(weights), view(keys), min_weight); },
      "layout"_a, "weights"_a, "keys"_a, "min_weight"_a);
}

void bind_predict(nb::class_<TwoChainPredictor>& predictor) {
  predictor
      .def(
          "predict",
          [](const TwoChainPredictor& self, const Sentences& sentences, TwoChainMode mode,
             const Input<std::int32_t>& letter, std::size_t threads) {
            TwoChainLabels found =
                without_gil([&] { return predict(self, sentences, mode, view(letter), threads); });
            return std::make_tuple(to_numpy(std::move(found.letter)), to_numpy(std::move(found.tag)));
          },
          "sentences"_a, "mode"_a, "letter"_a, "threads"_a)
      .def(
          "predict_marginals",
          [](const TwoChainPredictor& self, const Sentences& sentences, double scale, std::size_t threads) {
            return to_numpy(without_gil([&] { return predict_marginals(self, sentences, scale, threads); }),
                            self.shape().letters() * self.shape().tags());
          },
          "sentences"_a, "scale"_a, "threads"_a);
}

/// Questions about one sentence.
void bind_sentence(nb::class_<TwoChainPredictor>& predictor) {
  predictor
      .def(
          "k_best",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence, std::size_t k,
             bool letters_only) {
            std::vector<std::tuple<double, Array<std::int32_t>, Array<std::int32_t>>> out;
            for (auto& path : k_best(self, sentences, sentence, k, letters_only))
              out.emplace_back(path.score, to_numpy(std::move(path.letter)), to_numpy(std::move(path.tag)));
            return out;
          },
          "sentences"_a, "sentence"_a, "k"_a, "letters_only"_a)
      .def(
          "log_partition",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence, double scale) {
            return log_partition(self, sentences, sentence, scale);
          },
          "sentences"_a, "sentence"_a, "scale"_a)
      .def(
          "path_score",
          [](const TwoChainPredictor& self, const Sentences& sentences, std::int64_t sentence,
             const Input<std::int32_t>& letter, const Input<std::int32_t>& tag) {
            return path_score(self, sentences, sentence, view(letter), view(tag));
          },
          "sentences"_a, "sentence"_a, "letter"_a, "tag"_a);
}

}  // namespace

void bind_two_chain_predictor(nb::module_& m) {
  bind_weights(m);
  nb::class_<TwoChainPredictor> predictor(m, "TwoChainPredictor");
  predictor
      .def(nb::init<TwoChainShape, TwoChainPatterns, TwoChainWeights, Reading>(), "shape"_a, "patterns"_a,
           "weights"_a, "reading"_a)
      .def_prop_ro("weights", &TwoChainPredictor::weights);
  bind_predict(predictor);
  bind_sentence(predictor);
}

}  // namespace duilian::bindings
