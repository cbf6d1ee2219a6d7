import CEvalCore
import Foundation
import Synchronization

/// The run of the C ABI, who waits for its end, and the thread that takes its events and holds it until the last.
final class RunCore: Sendable {
    private struct State {
        var end: Result<RunSummary, any Error>?
        var waiting: [CheckedContinuation<RunSummary, any Error>] = []
    }

    let run: Handle
    let progress = AsyncStream<RunProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let notes = AsyncStream<String>.makeStream()
    private let state = Mutex(State())

    init(_ run: Handle) {
        self.run = run
    }

    func cancel() {
        _ = run.use { evc_run_cancel($0) }
    }

    func waitForEnd(_ continuation: CheckedContinuation<RunSummary, any Error>) {
        let end = state.withLock { state in
            if state.end == nil { state.waiting.append(continuation) }
            return state.end
        }
        if let end { continuation.resume(with: end) }
    }

    func startPump() {
        Thread.detachNewThread {
            Thread.current.name = "evalcore run"
            while let event = nextEvent(of: self.run, evc_run_poll) { self.deliver(event) }
            self.ended(.failure(EvalError(.closed, "the run has no summary")))
        }
    }

    private func deliver(_ event: Handle) {
        switch event.use({ Int(evc_event_kind($0)) }) {
        case EVC_EVENT_NOTE:
            notes.continuation.yield(event.use { String(evc_event_text($0)) })
        case EVC_EVENT_PROGRESS:
            guard let now = try? RunProgress(json: event.json) else { return }
            progress.continuation.yield(now)
        case EVC_EVENT_RUN_END:
            ended(
                Result {
                    if let error = event.error { throw error }
                    return try RunSummary(json: event.json)
                })
        default:
            break
        }
    }

    /// The first end counts.
    private func ended(_ end: Result<RunSummary, any Error>) {
        let waiting = state.withLock { state in
            guard state.end == nil else { return [CheckedContinuation<RunSummary, any Error>]() }
            state.end = end
            return state.waiting
        }
        progress.continuation.finish()
        notes.continuation.finish()
        for one in waiting { one.resume(with: end) }
    }
}
