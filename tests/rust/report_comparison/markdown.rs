//! The comment for a pull request, word for word.

use super::rendered;
use super::sample::{document, whole};

#[test]
fn the_comment_has_its_marker_then_the_answer() {
    assert_eq!(rendered(&whole(), "markdown"), "<!-- fastrnns-rs comparison -->
### 1 slower, 1 faster, 1 equivalent, 2 inconclusive, 4 without a verdict; geometric mean 1.002 [0.9910, 1.012]

`old.json` → `new.json`

| runner | phase | baseline, ms | candidate, ms | ratio [95 % interval] | change, % | Cliff's delta | processes | verdict |
|---|---|---:|---:|---:|---:|---:|---:|---|
| `cudnn` | forward | 1.200 | 1.238 | 1.032 [1.018, 1.047] | +3.20 | 0.92 | 10+10 | **↑ slower** |
| `cudnn` | backward | 2.000 | 1.900 | 0.9500 [0.9400, 0.9600] | -5.00 | 0.92 | 10+10 | **↓ faster** |
| `jit_premul` | forward | 12.63 | 12.63 | 1.000 [0.9980, 1.002] | 0.00 | 0.92 | 10+10 | = equivalent |
| `jit` | forward | 14.35 | 14.40 | 1.003 [0.9897, 1.018] | +0.35 | 0.92 | 10+10 | ? inconclusive |
| `py` | forward | 19.30 | 19.90 | 1.031 [0.5000, 2.100] | +3.11 | 0.92 | 3+10 | ? inconclusive |
| `aten` | forward | 1.000 | 1.100 | - | - | - | 2+10 | - no verdict |
| `resnet18_jit` | backward | 100.0 | - | - | - | - | 10+0 | - no verdict |
| `custom` | forward | 100.0 | - | - | - | - | 10+0 | - no verdict |
| `test_sort` | - | 0.001234 | 0.0006172 | 0.5000 | -50.00 | - | - | - no verdict |
| geometric mean of 5 | | | | 1.002 [0.9910, 1.012] | +0.17 | | | |

- `jit/forward`: 14 more processes a side would settle it, in a new comparison
- `py/forward`: `fewer than 10 processes: a wide interval`
- `py/forward`: `the interval holds 1`
- `aten/forward`: `fewer than 3 processes: no verdict`
- `resnet18_jit/backward`: `only in the baseline`
- `custom/forward`: `failed: RuntimeError: no kernel`
- `test_sort`: `no process level: descriptive only`

<details>
<summary>3 environment differences</summary>

| key | baseline | candidate |
|---|---|---|
| `torch_version` | `2.14.0` | `2.15.0` |
| `variables.OMP_NUM_THREADS` | `-` | `1` |
| `cpu_affinity` | `[0,1]` | `[0]` |

</details>

<details>
<summary>2 warnings</summary>

- `other programs were at work`
  - seen: `load 3.1 on 2 cores`
  - hint: `stop them and measure again`
- `written long ago`

</details>

<details>
<summary>method</summary>

`welch_t_on_log_process_medians`, margin ±1 % (default), 95 % intervals, false discovery rate 5 %. The ratio is the candidate's time over the baseline's: above 1 is slower.

</details>
");
}

#[test]
fn a_comparison_without_rows_says_so() {
    let text = rendered(&document(&[]), "markdown");
    assert!(text.contains("\n`old.json` → `new.json`\n\nNothing to compare.\n\n<details>\n"), "{text}");
    assert_eq!(text.matches("<details>").count(), 1);
}
