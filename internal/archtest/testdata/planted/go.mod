module example.com/planted

go 1.26.0

require third.example/lib v0.0.0

replace third.example/lib => ../third
