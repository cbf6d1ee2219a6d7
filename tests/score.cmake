evalcore_test(call_text SOURCES unit/test_call_text.cpp unit/test_double_bos.cpp unit/test_python_value.cpp unit/test_source_call.cpp LAYERS base chat)
evalcore_test(score
  SOURCES
    unit/test_bfcl.cpp
    unit/test_bfcl_rules.cpp
    unit/test_choice.cpp
    unit/test_exact.cpp
    unit/test_letter.cpp
    unit/test_likelihoods.cpp
    unit/test_numeric.cpp
    unit/test_pass_at_k.cpp
    unit/test_python_text.cpp
    unit/test_regex.cpp
    unit/test_reported_scores.cpp
    unit/test_text_scorers.cpp
  LAYERS base chat wire score)
evalcore_test(score_first_use SOURCES unit/test_score_first_use.cpp
  LAYERS base chat score LINK Threads::Threads)
