/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module of Python: callback.call(f) calls f from C, in some frames of its own. callback.leak(n)
 * loses n bytes.
 */
#include <Python.h>

#include <stdlib.h>

static PyObject *callback_deeper(PyObject *function, volatile int depth)
{
	PyObject *result =
		depth > 0 ? callback_deeper(function, depth - 1) : PyObject_CallNoArgs(function);

	depth = 0; /* (so that it is no tail call) */
	return result;
}

static PyObject *callback_call(PyObject *self, PyObject *function)
{
	(void)self;
	return callback_deeper(function, 3);
}

static PyObject *callback_leak(PyObject *self, PyObject *n)
{
	volatile char *lost = malloc(PyLong_AsSize_t(n));

	(void)self;
	if (lost)
		*lost = 1;
	lost = NULL;
	Py_RETURN_NONE;
}

static PyMethodDef callback_methods[] = {
	{ "call", callback_call, METH_O, NULL },
	{ "leak", callback_leak, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef callback_module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "callback",
	.m_size = -1,
	.m_methods = callback_methods,
};

PyMODINIT_FUNC PyInit_callback(void)
{
	return PyModule_Create(&callback_module);
}
