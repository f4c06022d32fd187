Caffe2Observer {"type": "NET", "metric": "lstm-cudnn", "unit": "ms", "value": "1.0"}
Caffe2Observer {"type": "NET", "metric": "lstm-cudnn", "unit": "ms", "value": "2.0"}
Caffe2Observer {"type": "NET", "metric": "lstm-cudnn_layernorm", "unit": "ms", "value": "2.5"}
Caffe2Observer {"type": "NET", "metric": "lstm-py (b)", "unit": "ms", "value": "1.4"}
Caffe2Observer {"type": "NET", "metric": "lstm-py (b)", "unit": "ms", "value": "1.6"}
Caffe2Observer {"type": "NET", "metric": "lstm-py on cuda:1", "unit": "ms", "value": "1.4"}
Caffe2Observer {"type": "NET", "metric": "lstm-py on cuda:1", "unit": "ms", "value": "1.5"}
Caffe2Observer {"type": "NET", "metric": "lstm-py on cuda:1", "unit": "ms", "value": "1.5"}
Caffe2Observer {"type": "NET", "metric": "lstm-py on cuda:1", "unit": "ms", "value": "1.6"}
Caffe2Observer {"type": "NET", "metric": "lstm-backward-cudnn", "unit": "ms", "value": "4e-05"}
Caffe2Observer {"type": "NET", "metric": "lstm-backward-cudnn", "unit": "ms", "value": "3.0"}
Caffe2Observer {"type": "NET", "metric": "resnet-a \"b\"|c", "unit": "ms", "value": "2.0"}
Caffe2Observer {"type": "NET", "metric": "resnet-backward-a \"b\"|c", "unit": "ms", "value": "4.0"}
