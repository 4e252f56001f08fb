/* A library with the name of a line and nothing in it. */
int nothing_of_use(void);
int nothing_of_use(void) { return 0; }
