//! Evaluates the trained model, which is compiled in as flat tables.
//!
//! Input: a row of features. Output: a margin per segment or page type. A tree is perfect and of
//! depth [`DEPTH`]: node `n` has the children `2n` and `2n + 1`. Feature ids are bytes and rows
//! have 256 entries, so no index is out of bounds. Margins are integer sums and therefore the same
//! on every machine. Rejects tables of another format or feature version.

use std::sync::LazyLock;

use super::features::{FEATURES_VERSION, Row};
use super::page::PageType;

/// Number of levels of a tree.
const DEPTH: usize = 5;
const NODES: usize = 1 << DEPTH;
const MAGIC: &[u8] = b"RUTSEG01";

/// Number of page types that the model distinguishes.
pub(crate) const N_TYPES: usize = PageType::LEARNED.len();

/// The trained model: the decision trees of all stages.
#[derive(Debug)]
pub(crate) struct Model {
    /// Checksum of the model file.
    pub(crate) version: u32,
    /// Columns of the first-stage features that the second stage uses, too.
    pub(crate) base: Vec<u8>,
    /// Trees that score the page types.
    pub(crate) types: DecisionForest,
    pub(crate) first: DecisionForest,
    pub(crate) second: DecisionForest,
}

/// Decision trees whose leaf values are summed.
#[derive(Debug)]
pub(crate) struct DecisionForest {
    trees: Vec<DecisionTree>,
    n_outputs: usize,
    scale: f32,
}

#[derive(Debug, Clone)]
struct DecisionTree {
    nodes: [TreeNode; NODES],
    leaves: [i16; NODES],
}

/// A node of a tree. A row goes to the right child if its feature is above the threshold.
#[derive(Debug, Clone, Copy, Default)]
struct TreeNode {
    threshold: f32,
    feature: u8,
}

impl DecisionTree {
    fn leaf(&self, row: &Row) -> i32 {
        let mut at = 1;
        for _ in 0..DEPTH {
            let node = self.nodes[at % NODES];
            let is_above = node.threshold < row[usize::from(node.feature)];
            at = 2 * at + usize::from(is_above);
        }
        self.leaves[at % NODES].into()
    }
}

/// Number of rows that are scored together, so that each tree is loaded once for all of them.
const TOGETHER: usize = 16;

/// Collects rows and scores them in batches; `done` gets the index of each row and its margin. A
/// margin above 0 means keep.
pub(crate) struct ScoreBatch<'m, F: FnMut(usize, f32)> {
    forest: &'m DecisionForest,
    rows: Vec<Row>,
    indices: Vec<usize>,
    done: F,
}

impl<'m, F: FnMut(usize, f32)> ScoreBatch<'m, F> {
    pub(crate) fn new(forest: &'m DecisionForest, done: F) -> Self {
        let (rows, indices) = (Vec::with_capacity(TOGETHER), Vec::with_capacity(TOGETHER));
        Self { forest, rows, indices, done }
    }

    pub(crate) fn push(&mut self, idx: usize, row: &Row) {
        self.rows.push(*row);
        self.indices.push(idx);
        if self.rows.len() == TOGETHER {
            self.finish();
        }
    }

    /// Scores the remaining rows.
    pub(crate) fn finish(&mut self) {
        let mut sums = [0_i32; TOGETHER];
        for tree in &self.forest.trees {
            for (row, sum) in self.rows.iter().zip(&mut sums) {
                *sum += tree.leaf(row);
            }
        }
        for (idx, sum) in self.indices.iter().zip(sums) {
            (self.done)(*idx, sum as f32 * self.forest.scale);
        }
        self.rows.clear();
        self.indices.clear();
    }
}

impl DecisionForest {
    /// Returns the margin of each page type.
    pub(crate) fn margins(&self, row: &Row) -> [f32; N_TYPES] {
        let mut sums = [0_i32; N_TYPES];
        for (idx, tree) in self.trees.iter().enumerate() {
            sums[idx % N_TYPES] += tree.leaf(row);
        }
        sums.map(|sum| sum as f32 * self.scale)
    }

    /// Returns the contribution of each feature to the margin of a row. At each node on the path of
    /// the row, the contribution is the change of the mean leaf value from the node to its child.
    pub(crate) fn contributions(&self, row: &Row) -> [f32; 256] {
        let mut out = [0.0; 256];
        for tree in &self.trees {
            let mut means = [0.0_f32; 2 * NODES];
            for (mean, leaf) in means[NODES..].iter_mut().zip(tree.leaves) {
                *mean = f32::from(leaf);
            }
            for at in (1..NODES).rev() {
                means[at] = f32::midpoint(means[2 * at], means[2 * at + 1]);
            }
            let mut at = 1;
            while at < NODES {
                let node = tree.nodes[at];
                let feature = usize::from(node.feature);
                let next = 2 * at + usize::from(node.threshold < row[feature]);
                out[feature] += (means[next] - means[at]) * self.scale;
                at = next;
            }
        }
        out
    }
}

/// Returns the model that is compiled into the program.
pub(crate) fn model() -> &'static Model {
    static MODEL: LazyLock<Model> = LazyLock::new(|| {
        Model::read(include_bytes!("../../model/segments.bin")).expect("the model fits the program")
    });
    &MODEL
}

impl Model {
    /// Parses the model file; returns `None` if it has another format or feature version.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = ModelReader(bytes.strip_prefix(MAGIC)?);
        let version = reader.u32()?;
        if reader.u32()? != FEATURES_VERSION {
            return None;
        }
        let n_base = reader.u8()?;
        let base = reader.take(n_base.into())?.to_vec();
        let (types, first, second) = (reader.forest()?, reader.forest()?, reader.forest()?);
        let is_whole = reader.0.is_empty()
            && types.n_outputs == N_TYPES
            && base.len() + super::context::N <= 255;
        is_whole.then_some(Self { version, base, types, first, second })
    }
}

struct ModelReader<'r>(&'r [u8]);

impl<'r> ModelReader<'r> {
    fn take(&mut self, n: usize) -> Option<&'r [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn forest(&mut self) -> Option<DecisionForest> {
        let n_trees = u16::from_le_bytes(self.array()?);
        if usize::from(self.u8()?) != DEPTH {
            return None;
        }
        let n_outputs = self.u8()?.into();
        let scale = f32::from_le_bytes(self.array()?);
        let trees = (0..n_trees).map(|_| self.tree()).collect::<Option<Vec<_>>>()?;
        Some(DecisionForest { trees, n_outputs, scale })
    }

    fn tree(&mut self) -> Option<DecisionTree> {
        let features: [u8; NODES] = self.array()?;
        let mut nodes = [TreeNode::default(); NODES];
        for (node, feature) in nodes.iter_mut().zip(features) {
            *node = TreeNode { threshold: f32::from_le_bytes(self.array()?), feature };
        }
        let mut leaves = [0; NODES];
        for leaf in &mut leaves {
            *leaf = i16::from_le_bytes(self.array()?);
        }
        Some(DecisionTree { nodes, leaves })
    }
}

/// Maps a margin to a probability from 0 to 1.
pub(crate) fn probability(margin: f32) -> f32 {
    0.5 + 0.5 * margin / (1.0 + margin.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiled_model_is_read_whole_and_is_small() {
        assert!(!model().first.trees.is_empty());
        assert!(!model().second.trees.is_empty());
        assert!(include_bytes!("../../model/segments.bin").len() <= 600_000);
    }

    #[test]
    fn tables_that_are_not_ours_are_refused() {
        assert!(Model::read(b"").is_none());
        assert!(Model::read(b"RUTSEG01\0\0\0\0\xff\0\0\0").is_none());
        let whole = include_bytes!("../../model/segments.bin");
        assert!(Model::read(&whole[..whole.len() - 1]).is_none());
    }

    #[test]
    fn any_row_has_a_finite_margin() {
        for value in [0.0, -1e30, 1e30, f32::INFINITY, f32::NAN] {
            let mut batch =
                ScoreBatch::new(&model().first, |_, margin| assert!(margin.is_finite()));
            batch.push(0, &[value; 256]);
            batch.finish();
        }
    }
}
