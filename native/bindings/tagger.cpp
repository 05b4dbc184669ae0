#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "duilian/score/lines.hpp"

namespace duilian::bindings {

using namespace nb::literals;

void bind_tagger(nb::module_& m) {
  nb::class_<TaggingData>(m, "TaggingData")
      .def(
          "__init__",
          [](TaggingData* self, const FeatureRows& features, const Input<std::int64_t>& first,
             const Input<std::int32_t>& label, const TagSets& sets) {
            TaggingData built{features, to_vector(first), to_vector(label), sets};
            check(built);
            new (self) TaggingData(std::move(built));
          },
          "features"_a, "first"_a, "label"_a, "sets"_a);

  nb::class_<TaggerLayout>(m, "TaggerLayout")
      .def_ro("labels", &TaggerLayout::labels)
      .def_prop_ro("weights", &TaggerLayout::weights)
      .def_prop_ro("transitions", &TaggerLayout::transitions)
      .def_prop_ro(
          "first", [](const TaggerLayout& self) { return to_numpy(self.first); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const TaggerLayout& self) { return to_numpy(self.label); }, nb::rv_policy::move);

  m.def("lay_out_tagger", &lay_out_tagger, "labels"_a, "rules"_a, "rows"_a, "data"_a, "full_from"_a,
        nb::call_guard<nb::gil_scoped_release>());

  m.def(
      "tag_units",
      [](const TaggerLayout& layout, nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu> weights,
         const FeatureRows& features, const Input<std::int64_t>& first, std::size_t threads) {
        return to_numpy(without_gil([&] {
          return tag_units(layout, {{weights.data(), weights.size()}}, features, {first.data(), first.size()},
                           threads);
        }));
      },
      "layout"_a, "weights"_a, "features"_a, "first"_a, "threads"_a);

  nb::class_<CompiledWeights>(m, "CompiledWeights")
      .def(
          "__init__",
          [](CompiledWeights* self, const Input<std::uint64_t>& slot, const Input<std::uint16_t>& label,
             const Input<float>& weight, const Input<float>& transition) {
            new (self) CompiledWeights{{to_vector(slot), to_vector(label), to_vector(weight)},
                                       to_vector(transition)};
          },
          "slot"_a, "label"_a, "weight"_a, "transition"_a)
      .def_prop_ro(
          "slot", [](const CompiledWeights& self) { return to_numpy(self.slot); }, nb::rv_policy::move)
      .def_prop_ro(
          "label", [](const CompiledWeights& self) { return to_numpy(self.label); }, nb::rv_policy::move)
      .def_prop_ro(
          "weight", [](const CompiledWeights& self) { return to_numpy(self.weight); }, nb::rv_policy::move)
      .def_prop_ro(
          "transition", [](const CompiledWeights& self) { return to_numpy(self.transition); },
          nb::rv_policy::move);
  m.def(
      "compile_weights",
      [](const TaggerLayout& layout, const Input<float>& weights, const Input<std::uint64_t>& keys,
         float min_weight) {
        return compile_weights(layout, {weights.data(), weights.size()}, {keys.data(), keys.size()},
                               min_weight);
      },
      "layout"_a, "weights"_a, "keys"_a, "min_weight"_a);

  nb::class_<Constraints>(m, "Constraints")
      .def(
          "__init__",
          [](Constraints* self, const TagSets& allowed, const Input<std::int64_t>& unit,
             const Input<std::int32_t>& label, const Input<float>& score) {
            if (unit.size() != label.size() || unit.size() != score.size())
              throw std::invalid_argument("uneven bonuses");
            Constraints built{allowed, {}};
            for (std::size_t k = 0; k < unit.size(); ++k)
              built.bonus.push_back({unit(k), label(k), score(k)});
            new (self) Constraints(std::move(built));
          },
          "allowed"_a, "unit"_a, "label"_a, "score"_a)
      .def(
          "restricted",
          [](const Constraints& self, const Input<std::uint8_t>& known,
             const Input<std::uint8_t>& barred_by) {
            return restricted(self, {known.data(), known.size()}, {barred_by.data(), barred_by.size()});
          },
          "known"_a, "barred_by"_a);

  nb::class_<LineOptions>(m, "LineOptions")
      .def(
          "__init__",
          [](LineOptions* self, bool has_words, std::pair<bool, bool> joins, std::vector<std::string> name,
             const std::vector<bool>& starts, std::string between, std::string before_tag) {
            new (self) LineOptions{has_words,          {joins.first, joins.second},
                                   std::move(name),    {starts.begin(), starts.end()},
                                   std::move(between), std::move(before_tag)};
          },
          "has_words"_a, "joins"_a, "name"_a, "starts"_a, "between"_a, "before_tag"_a)
      .def_ro("starts", &LineOptions::starts);

  nb::class_<Predictor>(m, "Predictor")
      .def(nb::init<std::int32_t, Succession, CompiledWeights, TemplateSet, Folding>(), "labels"_a, "rules"_a,
           "weights"_a, "templates"_a, "folding"_a)
      .def_prop_ro("weights", &Predictor::weights)
      .def("tag_lines", &tag_bytes<Predictor>, "text"_a, "options"_a, "threads"_a)
      .def("predict", &predict_labels<Predictor>, "sentences"_a, "constraints"_a, "threads"_a)
      .def(
          "predict_marginals",
          [](const Predictor& self, const Sentences& sentences, const Constraints& constraints,
             std::size_t threads) {
            return to_numpy(
                without_gil([&] { return predict_marginals(self, sentences, constraints, threads); }),
                static_cast<std::size_t>(self.labels()));
          },
          "sentences"_a, "constraints"_a, "threads"_a)
      .def(
          "chain",
          [](const Predictor& self, const Sentences& sentences, const Constraints& constraints,
             std::int64_t sentence) {
            Predictor::Work work;
            check(constraints, self.labels(), sentences.units());
            self.score(sentences, sentence, work);
            apply(constraints, self, sentences, sentence, work);
            const auto length = sentences.end_of(sentence) - sentences.begin_of(sentence);
            return spell_out(self.chain(static_cast<std::int32_t>(length), work));
          },
          "sentences"_a, "constraints"_a, "sentence"_a);

  m.def(
      "tag_rows",
      [](const Predictor& predictor, const nb::bytes& text, const std::vector<std::size_t>& field,
         const LineOptions& options, std::size_t threads) {
        const std::string_view shown(text.c_str(), text.size());
        const std::string out =
            without_gil([&] { return tag_rows(predictor, shown, field, options, threads); });
        return nb::bytes(out.data(), out.size());
      },
      "predictor"_a, "text"_a, "field"_a, "options"_a, "threads"_a);
}

}  // namespace duilian::bindings
