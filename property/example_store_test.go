package property_test

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// An item is stored under one edition of its type and read under the next, in which a field has
// gone, one has come, and one has become wider.
func ExampleDataType_ReadStore() {
	first, err := property.NewFixedDict(false,
		property.DictField{Name: "id", Type: property.Scalar(property.KindUint16)},
		property.DictField{Name: "colour", Type: property.Scalar(property.KindString)})
	if err != nil {
		panic(err)
	}
	stored, err := first.AppendStore(nil, property.List(property.Uint(7), property.StringValue("red")))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", stored)

	second, err := property.NewFixedDict(false,
		property.DictField{Name: "id", Type: property.Scalar(property.KindUint64)},
		property.DictField{Name: "charges", Type: property.Scalar(property.KindInt8), Default: property.Int(3)})
	if err != nil {
		panic(err)
	}
	item, _, err := second.ReadStore(stored)
	if err != nil {
		panic(err)
	}
	fmt.Println(item)
	// Output:
	// "\x82\xa2id\a\xa6colour\xa3red"
	// [7 3]
}
