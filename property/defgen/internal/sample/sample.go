// Package sample is generated code that is compiled and used: the tests of defgen for what a game
// does with it.
package sample

//go:generate go run github.com/cellscape/cellscape/property/defgen -defs defs -out gen_sample.go -name Avatar.pet=Pet
