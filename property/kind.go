package property

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Kind is the kind of a data type.
type Kind uint8

// The kinds. The comment says how a value travels: numbers are little-endian, lengths and counts
// are uvarints.
const (
	KindInt8          Kind = iota + 1 // 1 byte
	KindInt16                         // 2 bytes
	KindInt32                         // 4 bytes
	KindInt64                         // 8 bytes
	KindUint8                         // 1 byte
	KindUint16                        // 2 bytes
	KindUint32                        // 4 bytes
	KindUint64                        // 8 bytes
	KindFloat32                       // 4 bytes
	KindFloat64                       // 8 bytes
	KindBool                          // 1 byte, 0 or 1
	KindString                        // length, bytes
	KindUnicodeString                 // length, UTF-8
	KindBlob                          // length, bytes
	KindVec2                          // 8 bytes
	KindVec3                          // 12 bytes
	KindVec4                          // 16 bytes
	KindArray                         // count unless of fixed size, elements
	KindTuple                         // as an array
	KindFixedDict                     // presence byte if it may be None, fields in order
	KindEntityID                      // 8 bytes, at most MaxEntityID
	KindMailbox                       // 18 bytes and an IP address
	KindMap                           // count, then key and value of each pair, keys ascending
	KindAny                           // length, MessagePack
	KindUser                          // length, bytes of the user's codec
	endOfKinds
)

// kindRow is all that the package knows of a kind.
type kindRow struct {
	name  string   // in a .def file
	also  []string // other names in a .def file
	form  form     // what is done with the values
	width width    // of a number or vector as it travels; none for a form that is a wireForm
	least int      // fewest bytes of a value of a scalar kind without width as it travels
	key   bool     // it may be the key of a MAP: all processes agree on the order of its values
	def   Value    // default of a kind that needs no description; None if a constructor makes the type

	goType reflect.Type // of a Field of the kind, or nil
	handle string       // field of a script's struct for a property of the kind, in this package
}

// width says how many bytes a number or vector takes, and how they stand in a Value.
type width uint8

const (
	noWidth width = iota
	width1
	width2
	width4
	widthFloat32 // 4 bytes
	width8
	width12
	width16
)

func (w width) bytes() int { return [...]int{0, 1, 2, 4, 4, 8, 12, 16}[w] }

// kindTable is the one place that names every kind. It is only read. TestKinds checks that no row
// lacks anything.
var kindTable = [endOfKinds]kindRow{
	KindInt8:   {name: "INT8", form: signed{}, width: width1, key: true, def: Int(0), goType: reflect.TypeFor[int8](), handle: "Int8"},
	KindInt16:  {name: "INT16", form: signed{}, width: width2, key: true, def: Int(0), goType: reflect.TypeFor[int16](), handle: "Int16"},
	KindInt32:  {name: "INT32", form: signed{}, width: width4, key: true, def: Int(0), goType: reflect.TypeFor[int32](), handle: "Int32"},
	KindInt64:  {name: "INT64", form: signed{}, width: width8, key: true, def: Int(0), goType: reflect.TypeFor[int64](), handle: "Int64"},
	KindUint8:  {name: "UINT8", form: unsigned{max: math.MaxUint8}, width: width1, key: true, def: Uint(0), goType: reflect.TypeFor[uint8](), handle: "Uint8"},
	KindUint16: {name: "UINT16", form: unsigned{max: math.MaxUint16}, width: width2, key: true, def: Uint(0), goType: reflect.TypeFor[uint16](), handle: "Uint16"},
	KindUint32: {name: "UINT32", form: unsigned{max: math.MaxUint32}, width: width4, key: true, def: Uint(0), goType: reflect.TypeFor[uint32](), handle: "Uint32"},
	KindUint64: {name: "UINT64", form: unsigned{max: math.MaxUint64}, width: width8, key: true, def: Uint(0), goType: reflect.TypeFor[uint64](), handle: "Uint64"},
	KindEntityID: {name: "ENTITY_ID", also: []string{"OBJECT_ID"}, form: unsigned{max: MaxEntityID}, width: width8, key: true, def: Uint(0),
		goType: reflect.TypeFor[uint64](), handle: "Uint64"},
	KindFloat32: {name: "FLOAT32", also: []string{"FLOAT"}, form: single{}, width: widthFloat32, def: float32Value(0), goType: reflect.TypeFor[float32](), handle: "Float32"},
	KindFloat64: {name: "FLOAT64", also: []string{"DOUBLE"}, form: double{}, width: width8, def: Float(0), goType: reflect.TypeFor[float64](), handle: "Float64"},
	KindBool:    {name: "BOOL", form: boolean{}, width: width1, key: true, def: BoolValue(false), goType: reflect.TypeFor[bool](), handle: "Bool"},
	KindString:  {name: "STRING", form: text{}, least: 1, key: true, def: StringValue(""), goType: reflect.TypeFor[string](), handle: "String"},
	KindUnicodeString: {name: "UNICODE_STRING", also: []string{"UNICODE"}, form: text{}, least: 1, key: true, def: StringValue(""),
		goType: reflect.TypeFor[string](), handle: "String"},
	KindBlob:    {name: "BLOB", form: blob{}, least: 1, def: StringValue(""), goType: reflect.TypeFor[[]byte](), handle: "Blob"},
	KindVec2:    {name: "VECTOR2", form: vector{n: 2}, width: width8, def: Vec2(Vector2{}), goType: reflect.TypeFor[Vector2](), handle: "Field[property.Vector2]"},
	KindVec3:    {name: "VECTOR3", form: vector{n: 3}, width: width12, def: Vec3(Vector3{}), goType: reflect.TypeFor[Vector3](), handle: "Field[property.Vector3]"},
	KindVec4:    {name: "VECTOR4", form: vector{n: 4}, width: width16, def: Vec4(Vector4{}), goType: reflect.TypeFor[Vector4](), handle: "Field[property.Vector4]"},
	KindMailbox: {name: "MAILBOX", also: []string{"ENTITYCALL"}, form: mailbox{}, least: mailboxFixed, def: MailboxValue(Mailbox{}), goType: reflect.TypeFor[Mailbox](), handle: "MailboxField"},
	KindAny: {name: "ANY", also: []string{"PYTHON", "PY_DICT", "PY_TUPLE", "PY_LIST"}, form: free{}, least: 2,
		def: stringOf(isAny, "\xc0"), handle: "Any"}, // the default is nil
	KindArray:     {name: "ARRAY", form: sequence{}, handle: "Slice"},
	KindTuple:     {name: "TUPLE", form: sequence{}, handle: "Slice"},
	KindMap:       {name: "MAP", form: mapping{}, handle: "Map"},
	KindFixedDict: {name: "FIXED_DICT", also: []string{"CLASS"}, form: fixedDict{}, handle: "Dict"},
	KindUser:      {name: "USER_TYPE", form: userForm{}, handle: "Custom"},
}

// String returns the kind's name in a .def file.
func (k Kind) String() string {
	if k < endOfKinds && kindTable[k].name != "" {
		return kindTable[k].name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// kindNamed returns the kind of a data type that needs no alias: under its own name, or under
// another dialect's.
func kindNamed(name string) (Kind, bool) {
	for k := KindInt8; k < endOfKinds; k++ {
		if kindTable[k].name == name || slices.Contains(kindTable[k].also, name) {
			return k, true
		}
	}
	return 0, false
}

// scalars is written once, here, and only read.
var scalars = func() (t [endOfKinds]*DataType) {
	for k, row := range kindTable {
		if row.def.IsNone() {
			continue // made by its constructor
		}
		t[k] = newDataType(Kind(k), 1, 1)
		t[k].def, t[k].holds, t[k].fixed = row.def, row.def.kind, row.width > 0
		t[k].minWire = max(row.least, row.width.bytes())
	}
	return t
}()

// newDataType returns a type with what it has of its kind.
func newDataType(k Kind, depth, nodes int) *DataType {
	row := kindTable[k]
	t := &DataType{kind: k, form: row.form, width: row.width, depth: depth, nodes: nodes, minWire: 1}
	t.wire, _ = row.form.(wireForm)
	return t
}

// Scalar returns the type of a kind that needs no description. It panics for the kinds of
// [NewArray], [NewTuple], [NewFixedDict], [NewMap] and [NewUserType].
func Scalar(k Kind) *DataType {
	if k >= endOfKinds || scalars[k] == nil {
		panic("property: " + k.String() + " is not a scalar kind")
	}
	return scalars[k]
}
