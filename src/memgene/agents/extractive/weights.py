EVIDENCE: dict[str, float] = {}
SPAN: dict[str, float] = {}
RULES: dict[str, float] = {"when:dated": 1.0, "number:near": 1.0, "list:margin": 0.0}
