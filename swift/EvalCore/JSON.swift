import Foundation

/// Reads what the library wrote. Members that this version does not know are left out.
func decoded<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do {
        return try decoder.decode(type, from: Data(json.utf8))
    } catch {
        throw EvalError(.internalError, "the library's JSON cannot be read: \(error)")
    }
}
