// The plain tagger: in training, compiled, and on lines of text. One program for the whole part.
#include "test_lines.hpp"
#include "test_predictor.hpp"
#include "test_tagging.hpp"
