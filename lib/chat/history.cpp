#include <evalcore/chat/history.hpp>

#include <iterator>
#include <utility>

namespace evalcore::chat {

message assistant_turn(const reply& from) {
  message turn;
  turn.who = role::assistant;
  turn.text = from.text;
  turn.calls = from.calls;
  turn.reasoning = from.reasoning;
  turn.thinking = from.thinking;
  return turn;
}

request continued(request asked, const reply& answer, std::vector<message> next) {
  asked.messages.push_back(assistant_turn(answer));
  asked.messages.insert(asked.messages.end(), std::make_move_iterator(next.begin()),
                        std::make_move_iterator(next.end()));
  return asked;
}

}  // namespace evalcore::chat
