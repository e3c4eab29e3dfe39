// Package unlisted is in no line of the table.
package unlisted
