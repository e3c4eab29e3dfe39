package property

import "fmt"

// Dialect is whose form of definitions a tree has.
type Dialect uint8

// The dialects. Both are read the same way: what only one of them has is understood in every tree.
const (
	DialectNone Dialect = iota // described in Go, or nothing in the tree tells
	DialectBigWorld
	DialectKBEngine
)

// String returns the dialect's name, "" for none.
func (d Dialect) String() string {
	if d == DialectBigWorld || d == DialectKBEngine {
		return [...]string{DialectBigWorld: "BigWorld", DialectKBEngine: "KBEngine"}[d]
	}
	return ""
}

// What only one of the dialects has tells which one a tree is of. What both have tells nothing.

func dialectOfElement(name string) Dialect {
	switch name {
	case "ClientServerEntities", "ServerOnlyEntities", "Implements", "LoDLevels", "NetworkCompression", "TempProperties", "AppealRadius", "ClientName":
		return DialectBigWorld
	case "Interfaces", "DetailLevels", "Utype", "optimized", "Index":
		return DialectKBEngine
	}
	return DialectNone
}

func dialectOfType(name string) Dialect {
	switch name {
	case "MAILBOX", "UNICODE_STRING", "FLOAT32", "FLOAT64", "USER_TYPE", "CLASS", "UDO_REF":
		return DialectBigWorld
	case "ENTITYCALL", "UNICODE", "DOUBLE", "ENTITY_COMPONENT", "PY_DICT", "PY_TUPLE", "PY_LIST":
		return DialectKBEngine
	}
	return DialectNone
}

// evidence is what a tree shows of each dialect: how much, and the first piece, which a notice can
// name.
type evidence struct {
	count [DialectKBEngine + 1]int
	first [DialectKBEngine + 1]struct {
		what string
		at   position
	}
}

func (v *evidence) note(d Dialect, what string, at position) {
	if d == DialectNone {
		return
	}
	if v.count[d]++; v.count[d] == 1 {
		v.first[d].what, v.first[d].at = what, at
	}
}

// decide returns the dialect that more speaks for, BigWorld if as much does for both.
func (v *evidence) decide() Dialect {
	switch bw, kbe := v.count[DialectBigWorld], v.count[DialectKBEngine]; {
	case bw == 0 && kbe == 0:
		return DialectNone
	case kbe > bw:
		return DialectKBEngine
	}
	return DialectBigWorld
}

// noticeMixture tells of a tree that has something of both.
func (v *evidence) noticeMixture(r *report, d Dialect) {
	if v.count[DialectBigWorld] == 0 || v.count[DialectKBEngine] == 0 {
		return
	}
	other := DialectBigWorld + DialectKBEngine - d
	mine, theirs := v.first[d], v.first[other]
	r.notice(theirs.at, theirs.what, fmt.Sprintf("it is of the dialect of %v, but %s at %v is of that of %v", other, mine.what, mine.at, d),
		"both are understood; write one of them throughout")
}

func (p position) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}
