package property

import "fmt"

// Kind is the kind of a data type.
type Kind uint8

// The kinds. The comment says how a value travels: numbers are little-endian, lengths and counts are uvarints.
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
)

var kindNames = [...]string{
	KindInt8: "INT8", KindInt16: "INT16", KindInt32: "INT32", KindInt64: "INT64",
	KindUint8: "UINT8", KindUint16: "UINT16", KindUint32: "UINT32", KindUint64: "UINT64",
	KindFloat32: "FLOAT32", KindFloat64: "FLOAT64", KindBool: "BOOL",
	KindString: "STRING", KindUnicodeString: "UNICODE_STRING", KindBlob: "BLOB",
	KindVec2: "VECTOR2", KindVec3: "VECTOR3", KindVec4: "VECTOR4",
	KindArray: "ARRAY", KindTuple: "TUPLE", KindFixedDict: "FIXED_DICT",
	KindEntityID: "ENTITY_ID", KindMailbox: "MAILBOX",
	KindMap: "MAP", KindAny: "ANY", KindUser: "USER_TYPE",
}

// String returns the kind's name in a .def file.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}
