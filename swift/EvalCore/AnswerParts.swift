/// What comes of a request while it is answered.
public enum AnswerPart: Sendable {
    /// What comes next in the answer's text.
    case text(String)
    /// An attempt failed and another follows: the text that came so far is void.
    case retrying(EvalError)
    /// The whole answer: the last part.
    case reply(Reply)
}

/// An answer as it is written: parts of its text, and at last the whole reply.
///
/// It throws ``EvalError`` when the request fails, and `CancellationError` when the task that iterates is cancelled,
/// so an answer never seems whole that is not. Whoever stops iterating before the end cancels the request. For one
/// consumer.
public struct AnswerParts: AsyncSequence, Sendable {
    public typealias Element = AnswerPart

    let parts: AsyncThrowingStream<AnswerPart, any Error>

    public struct Iterator: AsyncIteratorProtocol {
        private var parts: AsyncThrowingStream<AnswerPart, any Error>.Iterator
        private var isOver = false

        init(_ parts: AsyncThrowingStream<AnswerPart, any Error>) {
            self.parts = parts.makeAsyncIterator()
        }

        public mutating func next() async throws -> AnswerPart? {
            guard !isOver else { return nil }
            isOver = true
            // A stream whose task is cancelled ends as if there were no more.
            guard let part = try await parts.next() else { throw CancellationError() }
            if case .reply = part { return part }
            isOver = false
            return part
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(parts) }
}
