// Package streamtest checks.
package streamtest
