evalcore_test(chat
  SOURCES
    unit/test_think_text.cpp
    unit/test_tool_block.cpp
    unit/test_tool_schema.cpp
  LAYERS base chat)
