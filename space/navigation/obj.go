package navigation

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/property"
)

// maxCorners bounds the corners of a file: as many as the polygons of a tile can have.
const maxCorners = MaxPolygons * 4

// ReadOBJ reads a tile from Wavefront OBJ, the form in which most tools give meshes away: lines "v x y z" and
// "f i j k ...", with y up, of which the numbers of corners are taken. All else is passed over. What the mesh
// is to be like is checked by Mesh.Add.
func ReadOBJ(r io.Reader) (Tile, error) {
	var t Tile
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		var err error
		switch {
		case len(words) == 0:
		case words[0] == "v":
			err = t.corner(words[1:])
		case words[0] == "f":
			err = t.face(words[1:])
		}
		if err != nil {
			return Tile{}, fmt.Errorf("navigation: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return Tile{}, fmt.Errorf("navigation: %w", err)
	}
	return t, nil
}

func (t *Tile) corner(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("a corner has %d coordinates, of 3", len(words))
	}
	if len(t.Corners) >= maxCorners {
		return fmt.Errorf("more than %d corners: cut the mesh into tiles", maxCorners)
	}
	var at [3]float32
	for i := range at {
		v, err := strconv.ParseFloat(words[i], 32)
		if err != nil {
			return fmt.Errorf("a corner: %w", err)
		}
		at[i] = float32(v)
	}
	t.Corners = append(t.Corners, property.Vector3{X: at[0], Y: at[1], Z: at[2]})
	return nil
}

// face reads "i", "i/t" or "i/t/n": numbers from 1, or below 0 from the end.
func (t *Tile) face(words []string) error {
	if len(t.Polygons) >= MaxPolygons || len(words) > MaxRing {
		return fmt.Errorf("more than %d polygons, or one of more than %d corners: cut the mesh", MaxPolygons, MaxRing)
	}
	ring := make([]uint32, 0, len(words))
	for _, w := range words {
		w, _, _ = strings.Cut(w, "/")
		i, err := strconv.Atoi(w)
		if err != nil {
			return fmt.Errorf("a polygon: %w", err)
		}
		if i < 0 {
			i += len(t.Corners) + 1
		}
		if i < 1 || i > len(t.Corners) {
			return fmt.Errorf("a polygon with corner %s of %d", w, len(t.Corners))
		}
		ring = append(ring, uint32(i-1))
	}
	t.Polygons = append(t.Polygons, ring)
	return nil
}
