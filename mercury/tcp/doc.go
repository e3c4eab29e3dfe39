// Package tcp is.
package tcp
