package property

import "github.com/cellscape/cellscape/property/internal/mpack"

// Limits. They bound what one definition tree or one stream can make a process allocate. All are
// far above what a game describes by hand: input that meets one is faulty.
const (
	// MaxTypes is the largest number of entity types: type ids are 16 bits wide on the wire.
	MaxTypes = 4096
	// MaxProperties is the largest number of properties of one type, inherited ones included. A
	// slot index is 16 bits.
	MaxProperties = 4096
	// MaxMethods is the largest number of methods of one side of a type; method indices are 16 bits
	// wide on the wire.
	MaxMethods = 4096
	// MaxArgs is the largest number of arguments, or of return values, of a method.
	MaxArgs = 64
	// MaxLevels is the largest number of detail levels of a type. A witness keeps one stamp per
	// level and entity.
	MaxLevels = 16
	// MaxName is the longest name of a type, property, method, argument, field or alias, in bytes.
	MaxName = 128
	// MaxString is the longest STRING, UNICODE_STRING or BLOB, in bytes. It leaves room for other
	// values in one message.
	MaxString = 256 << 10
	// MaxProperty is the largest value of a property, in bytes as it travels: it must fit one
	// message to a ghost.
	MaxProperty = 256 << 10
	// MaxClientProperty is MaxProperty of what a client sees: it must fit one message to that
	// client, with others.
	MaxClientProperty = 64 << 10
	// MaxList is the largest number of elements of an ARRAY or TUPLE of variable size.
	MaxList = 1 << 16
	// MaxAny is the longest ANY, in bytes of MessagePack: a free value is for the odd property, not
	// for a whole inventory.
	MaxAny = mpack.MaxFree
	// MaxAnyDepth is how deep arrays and maps of an ANY may nest. Decoding recurses along them.
	MaxAnyDepth = mpack.MaxFreeDepth
	// MaxAnyItems is the largest number of items of an ANY, keys and elements counted.
	MaxAnyItems = mpack.MaxFreeItems
	// MaxUser is the longest value of a user type, in bytes of its codec.
	MaxUser = 64 << 10
	// MaxDictFields is the largest number of fields of a FIXED_DICT.
	MaxDictFields = 256
	// MaxTypeDepth is how deep data types may nest. Codecs recurse along the type, so it bounds
	// their stack.
	MaxTypeDepth = 16
	// MaxElements is the largest number of elements of a type written out in full, fixed sizes
	// multiplied. It bounds default values: arrays of fixed size that hold each other would
	// multiply without it.
	MaxElements = 4096
	// MaxFileSize is the largest definition file, in bytes. The loader holds a file in memory while
	// it reads it.
	MaxFileSize = 1 << 20
	// MaxFiles is the largest number of definition files that one tree may pull in: types, parents,
	// interfaces, components.
	MaxFiles = 8192
	// MaxDepth is how deep XML elements may nest. The loader recurses along them.
	MaxDepth = 48
	// MaxAliases is the largest number of aliases in alias.xml and types.xml together.
	MaxAliases = 4096
	// MaxFaults is how many faults of a tree are listed; a tree with more is not a definition tree.
	MaxFaults = 256
	// MaxHistory is how many broadcast method events a [History] keeps. A watcher further behind is
	// refreshed.
	MaxHistory = 256
	// MaxHistoryBytes bounds the payloads that a [History] keeps together. The newest event is kept
	// whatever its size.
	MaxHistoryBytes = 256 << 10
	// MaxParts is how many changes of parts of properties a [History] keeps. A watcher further
	// behind is sent whole properties.
	MaxParts = 64
	// MaxPartBytes bounds the changes of parts that a [History] keeps together.
	MaxPartBytes = 16 << 10
	// MaxPayload is the longest payload of one event, in bytes; it equals the longest message of
	// the transport.
	MaxPayload = 1 << 20
	// MaxEntityID is the largest entity id: browsers compute in 53 bits.
	MaxEntityID = 1<<53 - 1
)

// maxTreeElements bounds the default values of all composite types of one tree together, so that
// many types of MaxElements each cannot add up.
const maxTreeElements = 1 << 20

// maxValueDepth is how deep a value may nest in the store: the map of properties, a type of
// MaxTypeDepth, and in it the store type of a USER_TYPE of that depth again. Types of users could
// hold each other in a ring.
const maxValueDepth = 3 * MaxTypeDepth

// A stored value may have an ANY at the bottom.
const _ = uint(mpack.MaxStoreDepth - maxValueDepth - MaxAnyDepth)
