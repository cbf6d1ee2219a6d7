evalcore_test(run
  SOURCES
    unit/test_budgeted_source.cpp
    unit/test_comparison.cpp
    unit/test_compat_gate.cpp
    unit/test_cost.cpp
    unit/test_export.cpp
    unit/system_calls.cpp
    unit/test_item_view.cpp
    unit/test_prepare.cpp
    unit/test_report_page.cpp
    unit/test_report_text.cpp
    unit/test_report_times.cpp
    unit/test_request_json.cpp
    unit/test_rows.cpp
    unit/test_score_replies.cpp
    unit/test_store.cpp
    unit/test_store_codec.cpp
    unit/test_store_damage.cpp
    unit/test_store_file.cpp
    unit/test_store_io.cpp
    unit/test_store_kill.cpp
    unit/test_suite.cpp
    unit/test_suite_bfcl.cpp
    unit/test_suite_lines.cpp
    unit/test_suite_params.cpp
    unit/test_summary.cpp
  LAYERS base stats chat wire net prefix engine backend score pool run)

# Apart: the store's kill test forks, and must not do so in a program with threads.
evalcore_test(runner LABEL threads
  SOURCES
    unit/test_host_scorer.cpp
    unit/test_merge.cpp
    unit/test_noise_floor.cpp
    unit/test_planned_source.cpp
    unit/test_planning.cpp
    unit/test_reported_resume.cpp
    unit/test_response_cache.cpp
    unit/test_runner.cpp
  LAYERS base stats chat wire net prefix engine backend score pool run)

evalcore_test(episodes LABEL threads
  SOURCES unit/test_episode_order.cpp unit/test_episode_request.cpp unit/test_episodes.cpp
  LAYERS base stats chat wire net prefix engine backend score pool run)
