package navigation

import (
	"strings"
	"testing"
)

func TestReadOBJ(t *testing.T) {
	tile, err := ReadOBJ(strings.NewReader("# a yard\nmtllib x.mtl\no yard\nv 0 0 0\nv 10 0 0 1.0\nv 10 0.5 10\nv 0 0 10\nvn 0 1 0\n\nf 1//1 2//1 3//1\nf -4 -2 -1\n"))
	if err != nil || len(tile.Corners) != 4 || len(tile.Polygons) != 2 || tile.Polygons[1][1] != 2 || tile.Corners[2].Y != 0.5 {
		t.Fatalf("%+v, %v", tile, err)
	}
	m := newMesh(t, tile)
	if _, err := m.Path(nil, at(9, 0, 1), at(1, 0, 9)); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"v 1 2":                           "line 1: a corner has 2 coordinates",
		"v 1 2 x":                         "line 1: a corner: ",
		"v 1 2 3\nf 1 2 3":                "line 2: a polygon with corner 2 of 1",
		"f a b c":                         "line 1: a polygon: ",
		"f" + strings.Repeat(" 1", 40):    "of more than 32 corners",
		"v " + strings.Repeat("1", 1<<17): "too long",
	} {
		if _, err := ReadOBJ(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// Whatever a file says, it is a tile or an error, and a tile that a mesh takes can be searched.
func FuzzReadOBJ(f *testing.F) {
	f.Add("v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3 4\n", float32(0.5), float32(0.5))
	f.Add("v 0 0 0\nv 5 0 0\nv 5 9 5\nf 1 2 3\nv 5 0 0\nv 9 1 0\nf -1 3 2\n", float32(4), float32(1))
	f.Fuzz(func(t *testing.T, text string, x, z float32) {
		tile, err := ReadOBJ(strings.NewReader(text))
		if err != nil {
			return
		}
		m := newMesh(t)
		id, err := m.Add(tile)
		if err != nil {
			return
		}
		from, ok := m.Nearest(at(x, 0, z), 1e6)
		if !ok {
			return
		}
		for _, to := range tile.Corners[:min(len(tile.Corners), 8)] {
			corners, err := m.Path(nil, from, to)
			if (err == nil) != (len(corners) > 0) {
				t.Fatalf("%v, %v", corners, err)
			}
			for _, c := range corners {
				if !c.Finite() {
					t.Fatalf("a corner at %v", c)
				}
			}
		}
		if !m.Remove(id) {
			t.Fatal("not removed")
		}
	})
}
