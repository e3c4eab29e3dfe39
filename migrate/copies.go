package migrate

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// BaseCopy is a copy of a base, from the app that has the base to one that holds the copy. It is
// answered by a BaseCopyHeld.
type BaseCopy struct {
	ID entity.ID
	// Number rises with each copy of the base.
	Number uint64
	// Cycle is the owner's; see CopyMark.
	Cycle uint64
	Parts []byte // aliases the input after Parse
}

// Append encodes m.
func (m *BaseCopy) Append(b []byte) []byte {
	b = fields.AppendID(b, m.ID)
	b = binary.AppendUvarint(b, m.Number)
	b = binary.AppendUvarint(b, m.Cycle)
	return append(b, m.Parts...)
}

// Parse decodes a body.
func (m *BaseCopy) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Number, m.Cycle = r.Uvarint(), r.Uvarint()
	if m.Parts = r.Rest(); len(m.Parts) > MaxParts {
		r.Fail(codec.ErrValue)
	}
	return done(&r, "base copy")
}

// BaseCopyHeld says that a copy, or a newer one, is held; or, with Refused, that there is no room.
type BaseCopyHeld struct {
	ID      entity.ID
	Number  uint64
	Refused bool
}

// Append encodes m.
func (m *BaseCopyHeld) Append(b []byte) []byte {
	b = fields.AppendID(b, m.ID)
	b = binary.AppendUvarint(b, m.Number)
	return codec.AppendBool(b, m.Refused)
}

// Parse decodes a body.
func (m *BaseCopyHeld) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Number, m.Refused = r.Uvarint(), r.Bool()
	return done(&r, "base copy held")
}

// done ends the parsing of a body.
func done(r *codec.Reader, what string) error {
	return r.CloseAs(ErrMalformed, what)
}

// BaseGone tells a holder that the sender's base has ended: its copy is not needed. It is answered
// by BaseForgotten.
type BaseGone struct{ ID entity.ID }

func (m *BaseGone) code(c *codec.Coder) { fields.ID(c, &m.ID) }

func (m *BaseGone) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BaseGone) Parse(body []byte) error { return parse(body, m, m.code) }

// BaseForgotten says that the sender has no copy of a base of the receiver, which has ended.
type BaseForgotten struct{ ID entity.ID }

func (m *BaseForgotten) code(c *codec.Coder) { fields.ID(c, &m.ID) }

func (m *BaseForgotten) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BaseForgotten) Parse(body []byte) error { return parse(body, m, m.code) }

// CopyMark tells a holder to forget those of the sender's copies that are older than a cycle: all of
// its bases have newer ones. With a Version it also forgets those that the sender's rule of this
// version gives to others.
type CopyMark struct{ Cycle, Version uint64 }

func (m *CopyMark) code(c *codec.Coder) {
	c.Uvarint(&m.Cycle)
	c.Uvarint(&m.Version)
}

func (m *CopyMark) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CopyMark) Parse(body []byte) error { return parse(body, m, m.code) }

// BackupRule says that all bases of the sender have their copies where this rule wants them. It is
// repeated until a BackupRuleHeld answers it.
type BackupRule struct{ Rule }

// Append and Parse are what Rule.Code describes.
func (m *BackupRule) Append(b []byte) []byte  { return codec.Append(b, m.Code) }
func (m *BackupRule) Parse(body []byte) error { return parse(body, m, m.Code) }

// BackupRuleHeld says that the sender knows the rule of this version, or a newer one, and all parts of the
// receiver's bases that have left it up to this Turn.
type BackupRuleHeld struct{ Version, Turn uint64 }

func (m *BackupRuleHeld) code(c *codec.Coder) {
	c.Uvarint(&m.Version)
	c.Uvarint(&m.Turn)
}

func (m *BackupRuleHeld) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BackupRuleHeld) Parse(body []byte) error { return parse(body, m, m.code) }
