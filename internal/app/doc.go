// Package app has what all processes of a cluster have in common, apart from their messages
// (package wire).
package app
