"""x"""
class _All(dict):
    def get(self, key, default=None): return "float32 float64 float16 bfloat16 int64 int32 bool uint8 int8 int16"
OPERATORS = _All()
