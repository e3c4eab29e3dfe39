package archtest_test

import (
	"fmt"
	"path/filepath"

	"github.com/cellscape/cellscape/internal/archtest"
)

// The rules of this module hold in it.
func Example() {
	faults, err := archtest.Check(filepath.Join("..", ".."), archtest.House())
	fmt.Println(faults, err)
	// Output: [] <nil>
}
