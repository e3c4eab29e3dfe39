//go:build !lint

package sqlite

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// The codes are those of the driver.
func TestCodes(t *testing.T) {
	for ours, theirs := range map[int]int{
		codePerm: sqlite3.SQLITE_PERM, codeBusy: sqlite3.SQLITE_BUSY, codeLocked: sqlite3.SQLITE_LOCKED, codeNoMem: sqlite3.SQLITE_NOMEM,
		codeReadOnly: sqlite3.SQLITE_READONLY, codeInterrupt: sqlite3.SQLITE_INTERRUPT, codeIOErr: sqlite3.SQLITE_IOERR,
		codeCorrupt: sqlite3.SQLITE_CORRUPT, codeFull: sqlite3.SQLITE_FULL, codeCantOpen: sqlite3.SQLITE_CANTOPEN,
		codeTooBig: sqlite3.SQLITE_TOOBIG, codeAuth: sqlite3.SQLITE_AUTH, codeNotADB: sqlite3.SQLITE_NOTADB,
		codeReadOnlyDBMoved: sqlite3.SQLITE_READONLY_DBMOVED, codeConstraintPrimaryKey: sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
		codeConstraintUnique: sqlite3.SQLITE_CONSTRAINT_UNIQUE, codeConstraintRowID: sqlite3.SQLITE_CONSTRAINT_ROWID,
	} {
		if ours != theirs {
			t.Errorf("a code is %d, of the driver %d", ours, theirs)
		}
	}
}
