package codec_test

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/codec"
)

type greeting struct {
	name string
	loud bool
}

func (m *greeting) code(c *codec.Coder) {
	c.String(&m.name, 16)
	c.Bool(&m.loud)
}

// A message describes its fields once.
func ExampleCoder() {
	sent := greeting{"ann", true}
	b := codec.Append(nil, sent.code)

	var got greeting
	fmt.Println(codec.Parse(b, got.code), got)
	// Output: <nil> {ann true}
}

// A parser reads all its fields in a row and asks for the error once.
func Example() {
	b := codec.AppendString(codec.AppendBool(nil, true), "hat")

	r := codec.NewReader(b)
	worn, what := r.Bool(), r.String(16)
	fmt.Println(worn, what, r.Close())

	r = codec.NewReader(b[:3])
	_, _ = r.Bool(), r.String(16)
	fmt.Println(r.Close())
	// Output:
	// true hat <nil>
	// codec: message ends too early
}
