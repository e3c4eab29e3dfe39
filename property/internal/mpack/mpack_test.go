package mpack_test

import (
	"fmt"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

func Example() {
	s, err := mpack.Encode(map[string]any{"b": 1, "a": []any{true, nil}})
	fmt.Printf("%x %v\n", s, err)
	fmt.Println(mpack.ToJSON(s))
	fmt.Println(mpack.Check([]byte("\xd0\x01"))) // 1 in two bytes
	// Output:
	// 82a16192c3c0a16201 <nil>
	// {"a":[true,null],"b":1} <nil>
	// property: value does not fit its type: ANY is not in its one form
}
