//! Image input of a model, which replaces tokens.

use crate::attributes::{Attribute, Attributes};
use crate::family::Family;
use crate::kernels::PATCH_PROJECT;
use crate::layout::dims::Dim;

/// The size of an image: a square of square patches, each of which is a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    /// Height and width in pixels.
    pub size: usize,
    /// Height and width of a patch in pixels, which divide those of the image.
    pub patch: usize,
    /// Channels of a pixel.
    pub channels: usize,
}

impl Image {
    /// Returns the images that models of `family` with these attributes read; `None` if they read tokens.
    pub(crate) fn of(family: Family, attributes: &Attributes) -> Option<Image> {
        let count = |attribute| attributes.get(attribute) as usize;
        let has_extents = Dim::Patches.is_of(family) || Dim::PatchElements.is_of(family);
        let mut nodes = family.nodes();
        let has_step = nodes.any(|node| node.op() == PATCH_PROJECT);
        (has_extents || has_step).then(|| Image {
            size: count(Attribute::ImageSize),
            patch: count(Attribute::PatchSize),
            channels: count(Attribute::NumChannels),
        })
    }

    /// Returns the number of patches in a row, which is also the number of rows.
    pub fn grid(self) -> usize {
        self.size.checked_div(self.patch).unwrap_or(0)
    }

    /// Returns the number of patches.
    pub fn patches(self) -> usize {
        self.grid().saturating_mul(self.grid())
    }

    /// Returns the number of positions: one for the whole image, and one for each patch.
    pub fn positions(self) -> usize {
        self.patches().saturating_add(1)
    }

    /// Returns the elements of a patch, which are stored by channel, row and column.
    pub fn patch_elements(self) -> usize {
        let pixels = self.patch.saturating_mul(self.patch);
        pixels.saturating_mul(self.channels)
    }

    /// Returns the elements of an image, which are stored by channel, row and column.
    pub fn elements(self) -> usize {
        let pixels = self.size.saturating_mul(self.size);
        pixels.saturating_mul(self.channels)
    }

    /// Returns the patches of an image one after the other, in row-major order. The length of `pixels` must be
    /// [`elements`](Image::elements).
    pub fn split(self, pixels: &[f32]) -> Vec<f32> {
        let mut all = Vec::with_capacity(pixels.len());
        for (down, across) in (0..self.patches()).map(|at| (at / self.grid(), at % self.grid())) {
            for channel in pixels.chunks_exact(self.size * self.size) {
                let rows = channel.chunks_exact(self.size);
                for row in rows.skip(down * self.patch).take(self.patch) {
                    all.extend_from_slice(&row[across * self.patch..][..self.patch]);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_have_the_rows_of_each_channel() {
        let image = Image {
            size: 4,
            patch: 2,
            channels: 2,
        };
        let pixels: Vec<f32> = (0..32u8).map(f32::from).collect();
        assert_eq!((image.patches(), image.positions()), (4, 5));
        assert_eq!((image.patch_elements(), image.elements()), (8, 32));
        let patches = image.split(&pixels);
        assert_eq!(patches.len(), 32);
        assert_eq!(patches[..8], [0., 1., 4., 5., 16., 17., 20., 21.]);
        assert_eq!(patches[8..16], [2., 3., 6., 7., 18., 19., 22., 23.]);
        assert_eq!(patches[24..], [10., 11., 14., 15., 26., 27., 30., 31.]);
    }
}
