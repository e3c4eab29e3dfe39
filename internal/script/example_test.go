package script_test

import (
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/property"
)

type guard struct{}

// A script that lacks a method of the definition is refused.
func ExampleBindMethods() {
	_, err := script.BindMethods(reflect.TypeFor[*guard](), []*property.Method{{Name: "salute"}}, false)
	fmt.Println(err)
	// Output: *script_test.guard: no Go method Salute for method "salute"; add func (*script_test.guard) Salute
}
