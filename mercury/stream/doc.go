// Package stream holds.
package stream
