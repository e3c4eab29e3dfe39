// Package cellscape is documentation only.
package cellscape
