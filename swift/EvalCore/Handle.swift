import CEvalCore
import Foundation

/// An object of the C ABI, freed with its last reference.
///
/// Unchecked, since the compiler cannot know what the C headers promise: most objects may be used by many threads
/// at once, and no call is under way when the last reference goes, as `use` holds one. Objects for one thread at a
/// time are either used where they are made or through `useAlone`.
final class Handle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void
    private let alone = NSLock()

    /// Throws `noMemory` where there is no object.
    init(_ pointer: OpaquePointer?, freedBy free: @escaping (OpaquePointer?) -> Void) throws {
        guard let pointer else { throw EvalError(.noMemory, "out of memory") }
        self.pointer = pointer
        self.free = free
    }

    deinit { free(pointer) }

    func use<Value>(_ body: (OpaquePointer) throws -> Value) rethrows -> Value {
        try withExtendedLifetime(self) { try body(pointer) }
    }

    func useAlone<Value>(_ body: (OpaquePointer) throws -> Value) rethrows -> Value {
        alone.lock()
        defer { alone.unlock() }
        return try use(body)
    }
}

/// Makes an object with a function that gives it, or an error, through pointers.
func makeHandle(
    freedBy free: @escaping (OpaquePointer?) -> Void,
    _ make: (UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<OpaquePointer?>) -> evc_status
) throws -> Handle {
    var made: OpaquePointer?
    try check { error in make(&made, error) }
    return try Handle(made, freedBy: free)
}
