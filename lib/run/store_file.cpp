#include "run/store_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "run/store_schema.hpp"

namespace evalcore::run {
namespace {

error refused(std::string why) { return fail(errc::storage, stage::store, std::move(why)); }

/// Makes an empty file that only its owner can read, unless there is one. SQLite would use the umask, and
/// would follow a link that somebody left in a shared folder.
result<void> create_if_missing(const std::string& path) {
  // SQLite opens files beside it, of the same name with "-wal" or "-journal" behind it.
  constexpr std::size_t longest_name = NAME_MAX - std::string_view("-journal").size();
  if (std::filesystem::path(path).filename().string().size() > longest_name) {
    return refused("the name of store " + path + " is longer than " + std::to_string(longest_name) +
                   " bytes; give a shorter one");
  }
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0) {
    if (S_ISLNK(about.st_mode)) return refused("store " + path + " is a symbolic link; give the file itself");
    if (!S_ISREG(about.st_mode)) return refused("store " + path + " is not a regular file; give a file name");
    return {};
  }
  if (errno != ENOENT) return refused("cannot open store " + path + ": " + std::strerror(errno));
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0 && errno == ENOENT) {
    const auto folder = std::filesystem::path(path).parent_path().string();
    return refused("cannot create store " + path + ": there is no folder " + folder + "; make it first");
  }
  if (descriptor < 0) {
    return refused("cannot create store " + path + ": " + std::strerror(errno) +
                   "; mend that, or give another --store");
  }
  ::close(descriptor);
  return {};
}

/// A store, or an empty database that may become one; anything else is left as it is.
result<bool> is_new(sql_database& database) {
  const auto& path = database.path();
  auto application = database.ask("PRAGMA application_id");
  if (!application) return std::move(application).error();
  auto version = database.ask("PRAGMA user_version");
  if (!version) return std::move(version).error();
  auto tables = database.ask("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::move(tables).error();
  if (*application == 0 && *version == 0 && *tables == 0) return true;
  if (*application != store_application_id) {
    return refused(path + " is not an evalcore store (another program's SQLite file); give another --store");
  }
  if (*version < 1 || *version > store_schema_version) {
    return refused("store " + path + " has schema " + std::to_string(*version) + ", this evalcore knows " +
                   std::to_string(store_schema_version) +
                   "; use the evalcore that wrote it or another --store");
  }
  return false;
}

result<void> create_tables(sql_database& database) {
  auto begun = transaction::begin(database);
  if (!begun) return std::move(begun).error();
  for (const auto* tables : {store_tables, episode_tables}) {
    if (auto made = database.execute(tables); !made) return made;
  }
  const std::string marks = "PRAGMA application_id = " + std::to_string(store_application_id) +
                            "; PRAGMA user_version = " + std::to_string(store_schema_version);
  if (auto marked = database.execute(marks.c_str()); !marked) return marked;
  return begun->commit();
}

/// A reply that its index has lost would be sent again without a word. Takes some 7 µs an item.
result<void> check_pages(sql_database& database) {
  auto check = database.prepare("PRAGMA integrity_check(1)");
  if (!check) return std::move(check).error();
  auto row = check->next();
  if (!row) return std::move(row).error();
  if (check->text(0) == "ok") return {};
  return refused("store " + database.path() + " is damaged (" + std::string(check->text(0)) +
                 "); restore a copy or give another --store");
}

/// Brings an older store to the present schema, whole or not at all.
result<void> update_tables(sql_database& database) {
  const auto version = database.ask("PRAGMA user_version");
  if (!version) return version.error();
  if (*version == store_schema_version) return {};
  auto begun = transaction::begin(database);
  if (!begun) return std::move(begun).error();
  for (auto from = *version; from < store_schema_version; ++from) {
    const auto* step = store_steps.at(static_cast<std::size_t>(from - 1));
    if (auto made = database.execute(step); !made) return made;
  }
  const std::string mark = "PRAGMA user_version = " + std::to_string(store_schema_version);
  if (auto marked = database.execute(mark.c_str()); !marked) return marked;
  return begun->commit();
}

/// SQLite needs the folder, too, for its log. By the effective user, as open() has it.
bool may_write(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  const auto folder = parent.empty() ? std::string(".") : parent;
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 &&
         ::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0;
}

bool has_log(const std::string& path) {
  struct stat about{};
  return ::stat((path + "-wal").c_str(), &about) == 0 && about.st_size > 0;
}

}  // namespace

result<sql_database> open_store_file_to_read(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    return fail(errc::not_found, stage::store, "there is no run file " + path);
  }
  if (may_write(path)) return open_store_file(path);
  const std::string copy = "copy the folder to where it can be written";
  if (has_log(path)) {
    return refused("store " + path + " cannot be written, and not all of it is in the file but some in " +
                   path + "-wal: it is in use, or its last process was killed; " + copy);
  }
  auto database = sql_database::open_unchanging(path);
  if (!database) return database;
  if (auto set = database->execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"); !set)
    return std::move(set).error();
  auto fresh = is_new(*database);
  if (!fresh) return std::move(fresh).error();
  if (*fresh) return refused(path + " holds no run");
  if (auto whole = check_pages(*database); !whole) return std::move(whole).error();
  const auto version = database->ask("PRAGMA user_version");
  if (!version) return version.error();
  if (*version == store_schema_version) return database;
  return refused("store " + path + " was made by an earlier evalcore and cannot be brought up to date; " +
                 copy);
}

result<sql_database> open_store_file(const std::string& path) {
  if (path.empty()) return fail(errc::invalid_argument, stage::store, "the name of the store is empty");
  if (auto there = create_if_missing(path); !there) return std::move(there).error();
  auto database = sql_database::open(path);
  if (!database) return database;
  if (database->read_only()) {
    return refused("store " + path + " cannot be written; check the rights on it and on its folder");
  }
  // The lock is taken before anything is read, held until the end, and gone with the process.
  if (auto locked = database->execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"); !locked) {
    return std::move(locked).error();
  }
  auto fresh = is_new(*database);
  if (!fresh) return std::move(fresh).error();
  // Checkpoints are left to sync(), because SQLite says nothing when one of its own fails.
  auto set = database->execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;"
      "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
  if (!set) return std::move(set).error();
  auto made = *fresh ? create_tables(*database) : check_pages(*database);
  if (made && !*fresh) made = update_tables(*database);
  if (!made) return std::move(made).error();
  return database;
}

}  // namespace evalcore::run
