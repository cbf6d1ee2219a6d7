import CEvalCore
import Foundation

/// The run of the C ABI, who waits for its end, and the thread that takes its events and holds it until the last.
final class RunCore: Sendable {
    let run: Handle
    let progress = AsyncStream<RunProgress>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let notes = AsyncStream<String>.makeStream()
    let end = End<RunSummary>()

    init(_ run: Handle) {
        self.run = run
    }

    func cancel() {
        _ = run.use { evc_run_cancel($0) }
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

    private func ended(_ how: Result<RunSummary, any Error>) {
        progress.continuation.finish()
        notes.continuation.finish()
        end.settle(how)
    }
}
