package navigation_test

import (
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/navigation"
)

// A yard of two rectangles beside a wall, and one that joins them at its end.
func Example() {
	tile, err := navigation.ReadOBJ(strings.NewReader(`
v 0 0 0
v 5 0 0
v 5 0 8
v 0 0 8
f 1 2 3 4
v 6 0 0
v 10 0 0
v 10 0 8
v 6 0 8
f 5 6 7 8
v 10 0 10
v 0 0 10
f 4 3 8 7 9 10
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	mesh, err := navigation.New(navigation.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := mesh.Add(tile); err != nil {
		fmt.Println(err)
		return
	}
	corners, err := mesh.Path(nil, property.Vector3{X: 2, Z: 1}, property.Vector3{X: 8, Z: 1})
	fmt.Println(corners, err)
	// Output: [{5 0 8} {6 0 8} {8 0 1}] <nil>
}
