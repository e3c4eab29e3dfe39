package property

import (
	"encoding/hex"
	"encoding/json"
	"math"
)

// Model is a Schema as plain data, for tools in any language: encoding/json writes it, and the same Schema always gives the
// same bytes. Nothing that a definition says is missing from it. Fields that are absent from the JSON are false, 0 or
// empty, but for ids and indices, which are always there and -1 where there is none.
type Model struct {
	Dialect      string         `json:"dialect,omitempty"` // BigWorld or KBEngine; none for a Schema described in Go
	Digest       string         `json:"digest"`            // hexadecimal
	ClientDigest string         `json:"clientDigest"`
	Types        []ModelType    `json:"types"`
	Services     []ModelService `json:"services,omitempty"`
	Aliases      []ModelAlias   `json:"aliases,omitempty"`
	Notices      []ModelNotice  `json:"notices,omitempty"`
	// NeedCodec are the USER_TYPEs for which no property.UserCodec was given.
	NeedCodec []ModelMissing `json:"needCodec,omitempty"`
}

// ModelMissing is a USER_TYPE without codec.
type ModelMissing struct {
	Name  string   `json:"name"`
	Where []string `json:"where"`
}

// ModelType is an entity type.
type ModelType struct {
	Name       string `json:"name"`
	ID         int    `json:"id"`
	ClientID   int    `json:"clientId"`
	ClientName string `json:"clientName,omitempty"` // the type as which clients see it
	Dialect    string `json:"dialect,omitempty"`
	Cell       bool   `json:"cell"`
	Base       bool   `json:"base"`
	Client     bool   `json:"client"`

	Persistent         bool              `json:"persistent,omitempty"`
	ExplicitDatabaseID bool              `json:"explicitDatabaseID,omitempty"`
	DetailedVolatile   bool              `json:"detailedVolatile,omitempty"`
	ManualAoI          bool              `json:"manualAoI,omitempty"`
	AppealRadius       Metres            `json:"appealRadius,omitempty"`
	Volatile           *ModelVolatile    `json:"volatile,omitempty"`
	Compression        *ModelCompression `json:"compression,omitempty"`
	Levels             []ModelLevel      `json:"levels,omitempty"` // nearest first
	Components         []ModelComponent  `json:"components,omitempty"`
	TempProperties     []string          `json:"tempProperties,omitempty"`
	Properties         []ModelProperty   `json:"properties,omitempty"` // by index, the order of streams
	CellMethods        []ModelMethod     `json:"cellMethods,omitempty"`
	BaseMethods        []ModelMethod     `json:"baseMethods,omitempty"`
	ClientMethods      []ModelMethod     `json:"clientMethods,omitempty"`
	Kept               []ModelKept       `json:"kept,omitempty"`
}

// ModelService is a service.
type ModelService struct {
	Name    string        `json:"name"`
	ID      int           `json:"id"`
	Methods []ModelMethod `json:"methods,omitempty"`
}

// ModelAlias is a name for a data type.
type ModelAlias struct {
	Name string `json:"name"`
	ModelValueType
	Default string      `json:"default,omitempty"`
	Kept    []ModelKept `json:"kept,omitempty"`
}

// ModelNotice is an oddity of the tree.
type ModelNotice struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Element string `json:"element,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// Metres is a distance; in JSON it is a number, or "always" where there is no limit.
type Metres float32

// MarshalJSON writes the distance.
func (m Metres) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(m), 1) {
		return []byte(`"always"`), nil
	}
	return json.Marshal(float32(m))
}

// ModelVolatile says to what distance position and direction are sent.
type ModelVolatile struct {
	Position Metres `json:"position"`
	Yaw      Metres `json:"yaw"`
	Pitch    Metres `json:"pitch"`
	Roll     Metres `json:"roll"`
}

// ModelCompression names compressions of create streams.
type ModelCompression struct {
	Internal string `json:"internal,omitempty"`
	External string `json:"external,omitempty"`
}

// ModelLevel is a detail level.
type ModelLevel struct {
	Label      string `json:"label"`
	Radius     Metres `json:"radius"`
	Hysteresis Metres `json:"hysteresis"`
}

// ModelComponent is a component of a type.
type ModelComponent struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// ModelKept is an element without meaning on a server.
type ModelKept struct {
	Element string `json:"element"`
	Text    string `json:"text,omitempty"`
}

// ModelProperty is a property of an entity type.
type ModelProperty struct {
	Name        string `json:"name"`
	Component   string `json:"component,omitempty"`
	Index       int    `json:"index"`
	ClientIndex int    `json:"clientIndex"`
	Flags       string `json:"flags"`
	ModelValueType
	Default     string `json:"default,omitempty"` // in the form of DataType.AppendText
	DetailLevel string `json:"detailLevel,omitempty"`
	Level       int    `json:"level"`

	Persistent       bool        `json:"persistent,omitempty"`
	Identifier       bool        `json:"identifier,omitempty"`
	Indexed          bool        `json:"indexed,omitempty"`
	Unique           bool        `json:"unique,omitempty"`
	DatabaseLength   int         `json:"databaseLength,omitempty"`
	SendLatestOnly   bool        `json:"sendLatestOnly,omitempty"`
	Unreliable       bool        `json:"unreliable,omitempty"`
	ExposedForReplay bool        `json:"exposedForReplay,omitempty"`
	WarnBytes        int         `json:"warnBytes,omitempty"`
	Editable         bool        `json:"editable,omitempty"`
	Kept             []ModelKept `json:"kept,omitempty"`
}

// ModelMethod is a method of one side.
type ModelMethod struct {
	Name           string      `json:"name"`
	Component      string      `json:"component,omitempty"`
	Index          int         `json:"index"`
	ExposedIndex   int         `json:"exposedIndex"`
	Exposed        string      `json:"exposed,omitempty"`
	Args           []ModelArg  `json:"args,omitempty"`
	Returns        []ModelArg  `json:"returns,omitempty"`
	DetailDistance Metres      `json:"detailDistance,omitempty"`
	SendLatestOnly bool        `json:"sendLatestOnly,omitempty"`
	Unreliable     bool        `json:"unreliable,omitempty"`
	ReplayExposure string      `json:"replayExposure,omitempty"` // NONE or ALL_CLIENTS; absent for OTHER_CLIENTS
	WarnBytes      int         `json:"warnBytes,omitempty"`
	Kept           []ModelKept `json:"kept,omitempty"`
}

// ModelArg is an argument or a return value.
type ModelArg struct {
	Name string `json:"name,omitempty"`
	ModelValueType
}

// ModelValueType is a data type: in words, and for a composite one its parts.
type ModelValueType struct {
	Type  string      `json:"type"` // DataType.String
	Shape *ModelShape `json:"shape,omitempty"`
}

// ModelShape is the parts of a composite data type.
type ModelShape struct {
	Kind          string          `json:"kind"`
	Key           *ModelValueType `json:"key,omitempty"` // MAP
	Of            *ModelValueType `json:"of,omitempty"`  // ARRAY, TUPLE, MAP
	Size          int             `json:"size,omitempty"`
	PersistAsBlob bool            `json:"persistAsBlob,omitempty"`
	AllowNone     bool            `json:"allowNone,omitempty"` // FIXED_DICT, as what follows
	ImplementedBy string          `json:"implementedBy,omitempty"`
	Fields        []ModelField    `json:"fields,omitempty"`
	StoreType     *ModelValueType `json:"storeType,omitempty"` // USER_TYPE
}

// ModelField is a field of a FIXED_DICT.
type ModelField struct {
	Name string `json:"name"`
	ModelValueType
	Default        string `json:"default,omitempty"`
	DatabaseLength int    `json:"databaseLength,omitempty"`
	Transient      bool   `json:"transient,omitempty"` // the store leaves it out
}

// Model returns the Schema as plain data.
func (s *Schema) Model() *Model {
	m := &Model{
		Dialect: s.Dialect.String(),
		Digest:  hex.EncodeToString(s.Digest[:]), ClientDigest: hex.EncodeToString(s.ClientDigest[:]),
		Types:    each(s.Types, (*Definition).model),
		Services: each(s.Services, (*Definition).serviceModel),
		Aliases:  each(s.Aliases, Alias.model),
		Notices: each(s.Notices, func(f *Fault) ModelNotice {
			return ModelNotice{f.File, f.Line, f.Element, f.Problem, f.Remedy}
		}),
		NeedCodec: each(s.MissingTypes, func(t MissingType) ModelMissing { return ModelMissing(t) }),
	}
	if m.Types == nil {
		m.Types = []ModelType{}
	}
	return m
}
