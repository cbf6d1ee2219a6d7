#include "chat/python_resolve.hpp"

#include <algorithm>
#include <unordered_map>

#include "chat/python_arithmetic.hpp"
#include "chat/python_hash.hpp"
#include "chat/python_unparse.hpp"

namespace evalcore::chat::python {
namespace {

error refuse(std::string message) {
  return fail(errc::bad_reply, stage::decode, "not a list of calls: " + std::move(message));
}

result<python_value> resolve(const tree& all, node_id id);

/// a.b.c of `a.b.c(…)`. What stands in front of the last dots and is no name is left out: f(x).g(…) is g.
std::string dotted_name(const tree& all, node_id id) {
  std::vector<std::string_view> parts;
  for (; all[id].kind == node_kind::attribute; id = all[id].children[0]) parts.emplace_back(all[id].text);
  if (all[id].kind == node_kind::name) parts.emplace_back(all[id].text);
  std::string name;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part != parts.rbegin()) name += '.';
    name += *part;
  }
  return name;
}

result<python_call> resolve_call(const tree& all, node_id id) {  // NOLINT(misc-no-recursion)
  const node& here = all[id];
  python_call out;
  out.name = dotted_name(all, here.children[0]);
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto& [name, argument] : here.keywords) {
    if (name.empty()) return refuse("unpacked arguments are not read");
    auto value = resolve(all, argument);
    if (!value) return std::move(value).error();
    const auto [place, fresh] = places.try_emplace(name, out.arguments.size());
    if (fresh) {
      out.arguments.emplace_back(name, *std::move(value));
    } else {
      out.arguments[place->second].second = *std::move(value);
    }
  }
  return out;
}

result<std::vector<python_value>> resolve_all(const tree& all,
                                              const node& here) {  // NOLINT(misc-no-recursion)
  std::vector<python_value> out;
  out.reserve(here.children.size());
  for (const auto child : here.children) {
    auto value = resolve(all, child);
    if (!value) return std::move(value).error();
    out.push_back(*std::move(value));
  }
  return out;
}

result<python_value> resolve_dict(const tree& all, const node& here) {  // NOLINT(misc-no-recursion)
  auto values = resolve_all(all, here);
  if (!values) return std::move(values).error();
  python_value::dict out;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < values->size(); i += 2) {
    auto key = hash_text((*values)[i]);
    if (!key) return refuse("a key that cannot be hashed");
    const auto [place, fresh] = places.try_emplace(*std::move(key), out.items.size());
    if (fresh) {
      out.items.emplace_back(std::move((*values)[i]), std::move((*values)[i + 1]));
    } else {
      out.items[place->second].second = std::move((*values)[i + 1]);
    }
  }
  return python_value(std::move(out));
}

result<python_value> resolve_text(result<std::string> text) {
  if (!text) return std::move(text).error();
  return python_value(*std::move(text));
}

result<python_value> resolve_nested_call(const tree& all, node_id id) {  // NOLINT(misc-no-recursion)
  if (all[id].keywords.empty()) return resolve_text(unparse(all, id));
  auto call = resolve_call(all, id);
  if (!call) return std::move(call).error();
  python_value::dict arguments;
  for (auto& [name, value] : call->arguments)
    arguments.items.emplace_back(python_value(name), std::move(value));
  python_value::dict out;
  out.items.emplace_back(python_value(std::move(call->name)), python_value(std::move(arguments)));
  return python_value(std::move(out));
}

result<python_value> resolve(const tree& all,
                             node_id id) {  // NOLINT(misc-no-recursion): bounded by tree_depth
  const node& here = all[id];
  switch (here.kind) {
    case node_kind::constant:
      return here.value;
    case node_kind::ellipsis:
      return python_value(std::string("..."));
    case node_kind::name:
      return python_value(here.text);
    case node_kind::binary:
      return evaluate(all, id);
    case node_kind::dict:
      return resolve_dict(all, here);
    case node_kind::call:
      return resolve_nested_call(all, id);
    case node_kind::unary: {
      // The reference reads every sign as a minus, +5 and ~5 too, and takes no sign but on a constant.
      const node& operand = all[here.children[0]];
      if (operand.kind != node_kind::constant) return refuse("a sign in front of what is no number");
      return negate(operand.value);
    }
    case node_kind::subscript: {
      auto object = unparse(all, here.children[0]);
      auto index = unparse(all, here.children[1]);
      if (!object || !index) return !object ? std::move(object).error() : std::move(index).error();
      return python_value(*object + "[" + *index + "]");
    }
    case node_kind::list:
    case node_kind::tuple: {
      auto elements = resolve_all(all, here);
      if (!elements) return std::move(elements).error();
      if (here.kind == node_kind::list) return python_value(python_value::list{*std::move(elements)});
      return python_value(python_value::tuple{*std::move(elements)});
    }
    case node_kind::attribute:
    case node_kind::other:
      break;
  }
  return refuse("an argument that is not read");
}

}  // namespace

result<std::vector<python_call>> resolve_calls(const tree& all) {
  std::vector<python_call> out;
  for (const auto child : all[all.root].children) {
    if (all[child].kind != node_kind::call) return refuse("an element is not a call");
    auto call = resolve_call(all, child);
    if (!call) return std::move(call).error();
    out.push_back(*std::move(call));
  }
  return out;
}

}  // namespace evalcore::chat::python
