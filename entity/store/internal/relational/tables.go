package relational

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/cellscape/cellscape/entity/store"
)

// maxIdentifier is the longest name of a table or column, in bytes: PostgreSQL cuts at 63.
const maxIdentifier = 60

// table is a type's SQL, made once.
type table struct {
	typ  *store.Type
	name string // quoted

	insert, update, hold, remove string
	states                       string // id, version and holder, of one argument, locked
	rows, rowsLocked             string // everything, of one argument
	byIdentifier, byLocked       string // everything, of one identifier
	free                         string
}

const holderColumns = "holder_start, holder_app, holder_entity"

func newTable(t *store.Type, d *Dialect) *table {
	x := &table{typ: t, name: tableName(t.Name)}
	names, places, sets := "", "", ""
	for i := range t.Columns {
		names += ", " + columnName(t.Columns[i].Name)
		places += fmt.Sprintf(", $%d", i+8)
		sets += fmt.Sprintf(", %s = $%d", columnName(t.Columns[i].Name), i+5)
	}
	all := "SELECT id, version, " + holderColumns + ", autoload, data" + names + " FROM " + x.name
	x.insert = "INSERT INTO " + x.name + " (id, version, " + holderColumns + ", autoload, data" + names + ") VALUES ($1, $2, $3, $4, $5, $6, $7" + places + ")"
	x.update = "UPDATE " + x.name + " SET version = $2, autoload = $3, data = $4" + sets + " WHERE id = $1"
	x.hold = "UPDATE " + x.name + " SET holder_start = $2, holder_app = $3, holder_entity = $4 WHERE id = $1"
	x.remove = "DELETE FROM " + x.name + " WHERE id = $1"
	x.states = "SELECT id, version, " + holderColumns + " FROM " + x.name + " WHERE " + d.AnyInt + " ORDER BY id" + d.ForUpdate
	x.rows = all + " WHERE " + d.AnyInt
	x.rowsLocked = x.rows + " ORDER BY id" + d.ForUpdate
	if c := t.Identifier(); c != nil {
		x.byIdentifier = all + " WHERE " + columnName(c.Name) + " = $1"
		x.byLocked = x.byIdentifier + d.ForUpdate
	}
	x.free = "UPDATE " + x.name + " SET holder_start = 0, holder_app = 0, holder_entity = 0 WHERE holder_app = $1 AND holder_start = $2 AND holder_app <> 0"
	return x
}

// create returns the statements that make the table of a type, without the indices of its columns.
func create(t *store.Type, d *Dialect) []string {
	columns := ""
	for i := range t.Columns {
		columns += ", " + columnName(t.Columns[i].Name) + " " + d.of(t.Columns[i].Class) + " NOT NULL"
	}
	name := tableName(t.Name)
	return []string{
		"CREATE TABLE " + name + " (id " + d.ID + ", version " + d.Int + " NOT NULL, holder_start " + d.Int + " NOT NULL, holder_app " + d.Int +
			" NOT NULL, holder_entity " + d.Int + " NOT NULL, autoload " + d.Int + " NOT NULL, data " + d.Blob + " NOT NULL" + columns + ")",
		"CREATE INDEX " + indexName(t.Name, " holder") + " ON " + name + " (holder_app) WHERE holder_app <> 0",
		"CREATE INDEX " + indexName(t.Name, " autoload") + " ON " + name + " (id) WHERE autoload <> 0",
	}
}

// createIndex returns the statement that indexes a column. One that is not unique has the id too:
// that is the order in which queries turn pages.
func createIndex(t *store.Type, c *store.Column) string {
	on := indexName(t.Name, c.Name) + " ON " + tableName(t.Name) + " (" + columnName(c.Name)
	if c.Unique {
		return "CREATE UNIQUE INDEX " + on + ")"
	}
	return "CREATE INDEX " + on + ", id)"
}

// of is the type of a column of a class.
func (d *Dialect) of(c store.Class) string {
	switch c {
	case store.Integer:
		return d.Int
	case store.Real:
		return d.Real
	case store.Binary:
		return d.Blob
	}
	return d.Text
}

func tableName(typ string) string  { return quote("entity_" + typ) }
func columnName(col string) string { return quote("p_" + col) }

// indexName has a digest: names of indices are of the whole database, and two long names could begin
// alike.
func indexName(typ, col string) string {
	return quote(fmt.Sprintf("ix_%x", sha256.Sum256([]byte(typ+"\x00"+col)))[:40])
}

// quote makes a name an identifier. Of a long one it keeps the beginning, and a digest of it all.
func quote(name string) string {
	if len(name) > maxIdentifier {
		sum := fmt.Sprintf("_%x", sha256.Sum256([]byte(name)))[:17]
		name = strings.ToValidUTF8(name[:maxIdentifier-len(sum)], "") + sum
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
