/// BFCL's own command with one model more, `evalcore`: whatever an OpenAI-compatible server at OPENAI_BASE_URL calls
/// EVALCORE_BFCL_MODEL. Without that variable it is BFCL's own command with its own models.
///
/// BFCL finds a model in a table whose import needs the libraries of every vendor; this stands in its place. A
/// model's name in that table may hold neither `_` nor `/`, which scoring takes for each other.
enum BFCLLauncher {
    static let modelName = "evalcore"

    /// Its arguments are those of `bfcl`. With EVALCORE_BFCL_LIMIT only so many items of each category are generated,
    /// by way of BFCL's own file of ids, in BFCL_PROJECT_ROOT.
    static let script = #"""
        import json
        import os
        import sys
        from types import ModuleType, SimpleNamespace

        name = os.environ.get("EVALCORE_BFCL_MODEL")
        if name:
            table = ModuleType("bfcl_eval.constants.model_config")
            table.MODEL_CONFIG_MAPPING = {}
            sys.modules[table.__name__] = table
            from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler
            table.MODEL_CONFIG_MAPPING["evalcore"] = SimpleNamespace(
                model_name=name, display_name=name, url="", org="", license="", model_handler=OpenAICompletionsHandler,
                input_price=None, output_price=None, is_fc_model=True, underscore_to_dot=True)

        from bfcl_eval.__main__ import cli
        from bfcl_eval.constants.eval_config import TEST_IDS_TO_GENERATE_PATH
        from bfcl_eval.utils import load_dataset_entry, parse_test_category_argument

        if "--run-ids" in sys.argv:
            limit = int(os.environ["EVALCORE_BFCL_LIMIT"])
            categories = parse_test_category_argument(sys.argv[sys.argv.index("--test-category") + 1].split(","))
            ids = {category: [entry["id"] for entry in load_dataset_entry(category)][:limit] for category in categories}
            TEST_IDS_TO_GENERATE_PATH.write_text(json.dumps(ids))

        cli()
        """#
}
