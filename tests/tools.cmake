# Programs that the oracle tests in Python talk to.
add_executable(score_replies tools/score_replies.cpp)
target_link_libraries(score_replies PRIVATE evalcore_warnings evalcore_base evalcore_chat evalcore_score)

add_executable(ask tools/ask.cpp)
target_link_libraries(ask PRIVATE evalcore_warnings evalcore_cpp)
target_include_directories(ask PRIVATE "${PROJECT_SOURCE_DIR}/lib")

add_executable(statistics tools/statistics.cpp)
target_link_libraries(statistics PRIVATE evalcore_warnings evalcore_base evalcore_stats evalcore_stats_heavy)
