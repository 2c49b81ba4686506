/* refused: nginx */
/* as: src/core/a.c */

typedef ngx_uint_t  a_t;     /* which does not compile here, either */
