//go:build !lint

package sqlite

// The driver is SQLite itself, translated to Go: looking it through takes staticcheck almost twice
// as long as all else. .ci/run leaves it out by the tag lint.
import _ "modernc.org/sqlite" // registers "sqlite" with database/sql
