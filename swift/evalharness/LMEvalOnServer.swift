import EvalHarnessSupport
import Foundation

/// `run-lm-eval` on a server with OpenAI's text completions: so many requests at a time, each of one prompt, since several
/// in one request end some servers. A request that fails for good ends lm_eval with an error, and so there are no rows.
enum LMEvalOnServer {
    static func run(_ options: RunLMEval.Options, on choice: EvalHarnessSupport.BackendChoice) async throws {
        if options.hfModel != nil || options.servedModel != nil {
            EvalHarnessSupport.refuse(
                "--hf-model and --posttrainllm-model go without --backend \(choice.name.rawValue): name the model by "
                    + "--model", usage: RunLMEval.exitUsage)
        }
        if choice.name == .embedded || choice.name == .anthropicURL {
            EvalHarnessSupport.refuse(
                "lm_eval asks for text completions over HTTP, which \(choice.name.rawValue) does not offer: use "
                    + "--backend llama-server or openai-url", usage: RunLMEval.exitUsage)
        }
        guard let model = options.model else {
            EvalHarnessSupport.refuse("--model is required", usage: RunLMEval.exitUsage)
        }
        guard let out = options.out else {
            EvalHarnessSupport.refuse("--out <path.jsonl> required", usage: RunLMEval.exitUsage)
        }
        guard let tokenizer = options.tokenizer else {
            EvalHarnessSupport.refuse(
                "--tokenizer <HF model id or dir> is required: lm_eval counts tokens", usage: RunLMEval.exitUsage)
        }
        guard let program = RunLMEval.executable(options.program) else {
            fail("lm_eval not found. `pip install lm-eval` then ensure it's on PATH.", 1)
        }
        var single = options
        single.batch = options.batch ?? 1
        let work = RunLMEval.workFolder(options)
        let served = try await EvalHarnessSupport.startServe(modelPath: model, port: options.servePort, on: choice)
        let wall = RunLMEval.evaluate(
            program, single, model: "local-completions",
            modelArguments: "base_url=\(served.address)/completions,model=\(served.model),"
                + "tokenizer_backend=huggingface,tokenizer=\(tokenizer),num_concurrent=\(choice.concurrency)",
            work: work, environment: ["OPENAI_API_KEY": served.key ?? "none"])
        withExtendedLifetime(served) {}
        let name = options.modelName ?? EvalHarnessSupport.servedName(of: model)
        let rows = RunLMEval.appendRows(
            options, out: out, work: work, modelPath: model, modelName: name, wall: wall)
        print("✓ wrote \(rows) rows to \(out)")
    }
}
