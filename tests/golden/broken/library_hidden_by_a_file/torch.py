raise RuntimeError("this is not torch")
