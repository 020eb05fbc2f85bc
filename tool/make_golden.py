#!/usr/bin/env python3
"""Makes what the tests of src/model compare with, by PyPI's transformers. Not part of CI: its output
is committed in golden/.

    make_golden.py tiny [FAMILY[/VARIANT] ...]
                                       tiny seeded checkpoints with hidden states, logits, greedy ids
    make_golden.py embed [bert decoder minilm]   tiny embedding models with their vectors, and those of
                                       the real MiniLM (sentence-transformers)
    make_golden.py smollm2             reference log-probabilities of the default model
    make_golden.py smollm2-f32         the default model's weights as an F32 safetensors folder beside
                                       the other fixtures (540 MB, not committed)

needs: pip install torch transformers accelerate gguf safetensors
       sentence-transformers
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] not in ("tiny", "embed", "smollm2", "smollm2-f32"):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments[0] == "tiny":
        from golden import tiny

        return tiny.main(arguments[1:])
    if arguments[0] == "embed":
        from golden import embed

        return embed.main(arguments[1:])
    from golden import smollm2

    return smollm2.reference() if arguments[0] == "smollm2" else smollm2.export_f32()


if __name__ == "__main__":
    sys.exit(main())
