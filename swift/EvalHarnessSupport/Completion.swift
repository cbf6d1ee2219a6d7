import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension EvalHarnessSupport {
    /// Asks a server's text completions, and waits for at most three minutes.
    ///
    /// - Parameters:
    ///   - baseURL: Such as `http://127.0.0.1:8097/v1`.
    ///   - maxTokens: Of the answer.
    ///   - temperature: 0 is greedy.
    /// - Returns: The first choice's text. Nil: it failed, and there is no answer.
    public static func completion(
        baseURL: String, prompt: String, maxTokens: Int = 128, temperature: Double = 0
    ) -> String? {
        guard let url = URL(string: "\(baseURL)/completions") else { return nil }
        let body: [String: Any] = [
            "model": "posttrainllm", "prompt": prompt, "max_tokens": maxTokens, "temperature": temperature,
        ]
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try? JSONSerialization.data(withJSONObject: body)
        request.timeoutInterval = 120
        guard let answer = exchange(request, within: 180),
            let object = try? JSONSerialization.jsonObject(with: answer.body) as? [String: Any],
            let choices = object["choices"] as? [[String: Any]]
        else { return nil }
        return choices.first?["text"] as? String
    }

    /// Sends a request and waits for the answer, so many seconds at most; nil: none came.
    static func exchange(_ request: URLRequest, within seconds: TimeInterval) -> (status: Int, body: Data)? {
        let slot = AnswerSlot()
        URLSession.shared.dataTask(with: request) { body, response, _ in
            if let response = response as? HTTPURLResponse {
                slot.answer.withLock { $0 = (response.statusCode, body ?? Data()) }
            }
            slot.came.signal()
        }.resume()
        // A task that is late is left to its own time-out: on Linux cancelling one that ends at the same time is a crash.
        _ = slot.came.wait(timeout: .now() + seconds)
        return slot.answer.withLock { $0 }
    }
}

private final class AnswerSlot: Sendable {
    let came = DispatchSemaphore(value: 0)
    let answer = Mutex<(status: Int, body: Data)?>(nil)
}
