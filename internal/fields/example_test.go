package fields_test

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

func Example() {
	b := fields.AppendID(nil, 7)
	b = fields.AppendOrder(b, entity.Order{Incarnation: 2, Hop: 5})

	r := codec.NewReader(b)
	fmt.Println(fields.ReadID(&r), fields.ReadOrder(&r), r.Close())
	// Output: 0.7 2/5 <nil>
}
